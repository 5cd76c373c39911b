import type { Change } from '../../audit/change-author.ts';
import type { ControlSignals, ControlStore, NodeState, TargetOverride } from '../../control/nodes/node-state.ts';
import type { LimitOwner } from '../../control/nodes/limit-use.ts';
import { toStorableText } from '../storable-text.ts';
import { appendAudit } from './audit-operations.ts';
import type { Database } from './database.ts';
import { readInteger, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const overrideColumns = 'target_id, reason, actor, set_at_ms, until_ms';

/** The SQL of the state of gateways, and of orders to them. */
export function createControlOperations(database: Database): ControlStore {
  return {
    putNodeState: async ({ nodeId, atMs, report, description }) => {
      const sql = `insert into node_reports (node_id, at_ms, report, description) values (?, ?, ?, ?)
        on conflict (node_id) do update set at_ms = excluded.at_ms, report = excluded.report,
          description = case when excluded.description = '' then node_reports.description else excluded.description end`;
      await database.run(sql, nodeId, atMs, JSON.stringify(report), description === undefined ? '' : JSON.stringify(description));
    },
    listNodeStates: async (sinceMs) => {
      const sql = "select node_id, at_ms, report, description from node_reports where at_ms >= ? and description <> '' order by node_id";
      return (await database.all(sql, sinceMs)).map(decodeState);
    },
    listControlReports: async (sinceMs) => {
      const sql = "select node_id, at_ms, report from node_reports where at_ms >= ? and description <> '' order by node_id";
      return (await database.all(sql, sinceMs)).map(decodeReport);
    },
    removeNodeState: async (nodeId, silentSinceMs) => {
      await database.run('delete from node_reports where node_id = ? or at_ms < ?', nodeId, silentSinceMs);
    },
    readControl: (nowMs) => readControl(database, nowMs),
    listOverrides: (nowMs) => listOverrides(database, nowMs),
    putOverride: (override, change) => database.transact((transaction) => putOverride(transaction, override, change)),
    removeOverride: (targetId, change) =>
      database.transact(async (transaction) => {
        const before = await findOverride(transaction, targetId, change.atMs);
        if (before === undefined) return false;
        await transaction.run('delete from target_overrides where target_id = ?', toStorableText(targetId));
        const action = { action: 'targets.put_back', subject: subjectOf(targetId), before: describe(before) };
        await appendAudit(transaction, change, action);
        return true;
      }),
    orderReload: (change) =>
      database.transact(async (transaction) => {
        const number = await countUp(transaction, 'reloads');
        await appendAudit(transaction, change, { action: 'config.reload', subject: 'config' });
        return number;
      }),
    watchNodes: async (untilMs) => {
      const sql = `insert into control_signals (name, value) values ('watched', ?)
        on conflict (name) do update set value = excluded.value where excluded.value > control_signals.value`;
      await database.run(sql, untilMs);
    },
    askLimitUse: (owners, nowMs) => database.transact((transaction) => askLimitUse(transaction, owners, nowMs), 'read-committed'),
    listLimitQuestions: async () => {
      const sql = `select scope, subject_id from limit_questions order by number desc, scope, subject_id limit ${questionsMax}`;
      return (await database.all(sql)).map((row) => ({
        // Written by askLimitUse.
        scope: readText(row, 'scope') as LimitOwner['scope'],
        id: readText(row, 'subject_id'),
      }));
    },
  };
}

async function putOverride(transaction: Database, override: TargetOverride, change: Change): Promise<void> {
  const { targetId, reason, actor, setAtMs, untilMs } = override;
  const before = await findOverride(transaction, targetId, change.atMs);
  const sql = `insert into target_overrides (${overrideColumns}) values (?, ?, ?, ?, ?)
    on conflict (target_id) do update set reason = excluded.reason, actor = excluded.actor, set_at_ms = excluded.set_at_ms,
      until_ms = excluded.until_ms`;
  await transaction.run(sql, toStorableText(targetId), toStorableText(reason), toStorableText(actor), setAtMs, untilMs);
  await transaction.run('delete from target_overrides where until_ms < ?', change.atMs);
  await appendAudit(
    transaction,
    { ...change, note: reason },
    {
      action: 'targets.take_out',
      subject: subjectOf(targetId),
      ...(before !== undefined && { before: describe(before) }),
      after: describe(override),
    },
  );
}

/** Questions that gateways still answer with each new one, so that questions at the same time all get an answer. */
const questionsMax = 500;
/** Longer than anybody waits for an answer. */
const askedMsMax = 30_000;

async function askLimitUse(transaction: Database, owners: readonly LimitOwner[], nowMs: number): Promise<number> {
  const number = await countUp(transaction, 'limits');
  await transaction.run('delete from limit_questions where asked_at_ms < ?', nowMs - askedMsMax);
  const sql = `insert into limit_questions (scope, subject_id, number, asked_at_ms) values (?, ?, ?, ?)
    on conflict (scope, subject_id) do update set number = excluded.number, asked_at_ms = excluded.asked_at_ms`;
  for (const { scope, id } of owners) await transaction.run(sql, scope, toStorableText(id), number, nowMs);
  return number;
}

/** Adds 1 to a counter, whose row it locks until the end of the transaction. */
async function countUp(transaction: Database, name: string): Promise<number> {
  const sql = `insert into control_signals (name, value) values (?, 1)
    on conflict (name) do update set value = control_signals.value + 1 returning value`;
  const row = await transaction.first(sql, name);
  return row === undefined ? 0 : readInteger(row, 'value');
}

async function readControl(database: Database, nowMs: number): Promise<ControlSignals> {
  const signals = await database.all('select name, value from control_signals');
  const valueOf = (name: string): number => {
    const row = signals.find((each) => each['name'] === name);
    return row === undefined ? 0 : readInteger(row, 'value');
  };
  return {
    overrides: await listOverrides(database, nowMs),
    reloads: valueOf('reloads'),
    newestLayer: valueOf('layers'),
    limitQuestions: valueOf('limits'),
    watchedUntilMs: valueOf('watched'),
  };
}

const subjectOf = (targetId: string): string => `target:${toStorableText(targetId)}`;

const describe = ({ reason, untilMs }: TargetOverride): string => JSON.stringify({ state: 'out', reason, untilMs });

async function listOverrides(database: Database, nowMs: number): Promise<readonly TargetOverride[]> {
  const sql = `select ${overrideColumns} from target_overrides where until_ms > ? order by target_id`;
  return (await database.all(sql, nowMs)).map(decodeOverride);
}

async function findOverride(database: Database, targetId: string, nowMs: number): Promise<TargetOverride | undefined> {
  const sql = `select ${overrideColumns} from target_overrides where target_id = ? and until_ms > ?`;
  const row = await database.first(sql, toStorableText(targetId), nowMs);
  return row === undefined ? undefined : decodeOverride(row);
}

function decodeState(row: SqlRow): NodeState {
  return {
    ...decodeReport(row),
    description: JSON.parse(readText(row, 'description')) as NodeState['description'],
  };
}

function decodeReport(row: SqlRow): Omit<NodeState, 'description'> {
  return {
    nodeId: readText(row, 'node_id'),
    atMs: readInteger(row, 'at_ms'),
    // Written by putNodeState.
    report: JSON.parse(readText(row, 'report')) as NodeState['report'],
  };
}

function decodeOverride(row: SqlRow): TargetOverride {
  return {
    targetId: readText(row, 'target_id'),
    reason: readText(row, 'reason'),
    actor: readText(row, 'actor'),
    setAtMs: readInteger(row, 'set_at_ms'),
    untilMs: readInteger(row, 'until_ms'),
  };
}
