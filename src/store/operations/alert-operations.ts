import { type Alert, alertRuleCodes, severities } from '../../alerts/alert.ts';
import type { AlertStore, HourlySpend, NodeReport } from '../../alerts/alert-store.ts';
import { StoreError } from '../store-error.ts';
import { toStorableText } from '../storable-text.ts';
import { createNoticeOperations, insertNotices } from './alert-notice-operations.ts';
import type { Database } from './database.ts';
import { readInteger, readOptionalInteger, readReal, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const columns = `rule, subject, period, state, version, episode, level, threshold, basis, severity, summary, action, since_ms,
  resolved_at_ms, members, channels`;

/** The SQL of alerts, of the observations of gateways, and of messages. */
export function createAlertOperations(database: Database): AlertStore {
  return {
    ...createNoticeOperations(database),
    listAlerts: async ({ state, limit }) => {
      const order = state === 'open' ? 'since_ms, rule, subject, period' : 'resolved_at_ms desc, rule, subject, period';
      const sql = `select ${columns} from alerts where state = ? order by ${order} limit ?`;
      return (await database.all(sql, state, limit)).map(decodeAlert);
    },
    findAlert: async ({ rule, subject, period }) => {
      const sql = `select ${columns} from alerts where rule = ? and subject = ? and period = ?`;
      const row = await database.first(sql, rule, toStorableText(subject), period);
      return row === undefined ? undefined : decodeAlert(row);
    },
    changeAlert: (alert, notices) =>
      database.transact(async (transaction) => {
        if (!(await writeAlert(transaction, alert))) return false;
        await insertNotices(transaction, notices);
        return true;
      }, 'read-committed'),
    putNodeReport: async ({ nodeId, atMs, observations }) => {
      const sql = `insert into alert_node_reports (node_id, at_ms, observations) values (?, ?, ?)
        on conflict (node_id) do update set at_ms = excluded.at_ms, observations = excluded.observations`;
      await database.run(sql, nodeId, atMs, toStorableText(JSON.stringify(observations)));
    },
    listNodeReports: async (sinceMs) => {
      const sql = "select node_id, at_ms, observations from alert_node_reports where at_ms >= ? and observations <> '[]' order by node_id";
      return (await database.all(sql, sinceMs)).map(decodeReport);
    },
    listHourlySpend: async (fromHour) => {
      const sql = `select user_name, hour, cast(sum(amount_nano_usd) as text) as amount from usage_hours
        where hour >= ? group by user_name, hour`;
      return (await database.all(sql, fromHour)).map(decodeSpend);
    },
    sweepAlerts: async ({ beforeMs, limit }) => {
      const over = 'select rule, subject, period from alerts where resolved_at_ms < ? order by resolved_at_ms limit ?';
      const alerts = await database.run(`delete from alerts where (rule, subject, period) in (${over})`, beforeMs, limit);
      const ended = 'select id from alert_notices where over_at_ms < ? order by over_at_ms limit ?';
      const notices = await database.run(`delete from alert_notices where id in (${ended})`, beforeMs, limit);
      await database.run('delete from alert_node_reports where at_ms < ?', beforeMs);
      return Math.max(alerts, notices);
    },
  };
}

/** Inserts the first version of an alert, or replaces the version before. False if another version is stored. */
async function writeAlert(transaction: Database, alert: Alert): Promise<boolean> {
  const values = [
    alert.state,
    alert.version,
    alert.episode,
    alert.level,
    alert.threshold ?? null,
    alert.basis,
    alert.severity,
    toStorableText(alert.summary),
    toStorableText(alert.action),
    alert.sinceMs,
    alert.resolvedAtMs ?? null,
    toStorableText(JSON.stringify(alert.members)),
    JSON.stringify(alert.channels),
  ];
  const identity = [alert.rule, toStorableText(alert.subject), alert.period];
  if (alert.version === 1) {
    const sql = `insert into alerts (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
    return (await transaction.run(sql, ...identity, ...values)) === 1;
  }
  const sql = `update alerts set state = ?, version = ?, episode = ?, level = ?, threshold = ?, basis = ?, severity = ?, summary = ?,
      action = ?, since_ms = ?, resolved_at_ms = ?, members = ?, channels = ?
    where rule = ? and subject = ? and period = ? and version = ?`;
  return (await transaction.run(sql, ...values, ...identity, alert.version - 1)) === 1;
}

function decodeAlert(row: SqlRow): Alert {
  const rule = alertRuleCodes.find((code) => code === row['rule']);
  const severity = severities.find((each) => each === row['severity']);
  if (rule === undefined || severity === undefined)
    throw new StoreError('corrupt', 'An alert has a rule or a severity that this version does not know.');
  const resolvedAtMs = readOptionalInteger(row, 'resolved_at_ms');
  return {
    rule,
    subject: readText(row, 'subject'),
    period: readText(row, 'period'),
    state: row['state'] === 'open' ? 'open' : 'resolved',
    version: readInteger(row, 'version'),
    episode: readInteger(row, 'episode'),
    level: readInteger(row, 'level'),
    ...(row['threshold'] === null ? {} : { threshold: readReal(row, 'threshold') }),
    basis: readText(row, 'basis'),
    severity,
    summary: readText(row, 'summary'),
    action: readText(row, 'action'),
    sinceMs: readInteger(row, 'since_ms'),
    ...(resolvedAtMs === undefined ? {} : { resolvedAtMs }),
    // Written by writeAlert.
    members: JSON.parse(readText(row, 'members')) as Alert['members'],
    channels: JSON.parse(readText(row, 'channels')) as Alert['channels'],
  };
}

function decodeReport(row: SqlRow): NodeReport {
  return {
    nodeId: readText(row, 'node_id'),
    atMs: readInteger(row, 'at_ms'),
    // Written by putNodeReport.
    observations: JSON.parse(readText(row, 'observations')) as NodeReport['observations'],
  };
}

function decodeSpend(row: SqlRow): HourlySpend {
  return { userName: readText(row, 'user_name'), hour: readInteger(row, 'hour'), nanoUsd: BigInt(readText(row, 'amount')) };
}
