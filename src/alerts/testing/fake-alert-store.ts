import type { AlertStore, HourlySpend, NewNotice, NodeReport, Notice } from '../alert-store.ts';
import type { Alert, AlertIdentity, Finding } from '../alert.ts';

const keyOf = ({ rule, subject, period }: AlertIdentity): string => JSON.stringify([rule, subject, period]);

/** A store of alerts in memory, with the rules of the real one about versions and leases. */
export function createFakeAlertStore(): AlertStore & {
  readonly notices: () => readonly Notice[];
  spend: readonly HourlySpend[];
  fails: boolean;
} {
  const alerts = new Map<string, Alert>();
  const notices = new Map<string, Notice & { owner?: string; leaseUntilMs: number }>();
  const reports = new Map<string, NodeReport>();
  const insert = (added: readonly NewNotice[]): void => {
    for (const notice of added)
      if (!notices.has(notice.id))
        notices.set(notice.id, { ...notice, status: 'waiting', attempts: 0, nextAttemptAtMs: notice.createdAtMs, leaseUntilMs: 0 });
  };
  const store = {
    spend: [] as readonly HourlySpend[],
    fails: false,
    notices: () => [...notices.values()],
    listAlerts: async ({ state, limit }: Parameters<AlertStore['listAlerts']>[0]) => {
      if (store.fails) throw new Error('the store is down');
      return [...alerts.values()].filter((alert) => alert.state === state).slice(0, limit);
    },
    findAlert: async (identity: AlertIdentity) => alerts.get(keyOf(identity)),
    changeAlert: async (alert: Alert, added: readonly NewNotice[]) => {
      if ((alerts.get(keyOf(alert))?.version ?? 0) !== alert.version - 1) return false;
      alerts.set(keyOf(alert), alert);
      insert(added);
      return true;
    },
    putNodeReport: async (report: NodeReport) => void reports.set(report.nodeId, report),
    listNodeReports: async (sinceMs: number) =>
      [...reports.values()].filter(({ atMs, observations }) => atMs >= sinceMs && observations.length > 0),
    listHourlySpend: async (fromHour: number) => store.spend.filter(({ hour }) => hour >= fromHour),
    insertNotices: async (added: readonly NewNotice[]) => insert(added),
    claimNotices: async ({ owner, nowMs, leaseUntilMs, limit }: Parameters<AlertStore['claimNotices']>[0]) => {
      const due = [...notices.values()].filter(
        (notice) => notice.status === 'waiting' && notice.nextAttemptAtMs <= nowMs && notice.leaseUntilMs <= nowMs,
      );
      for (const notice of due.slice(0, limit)) notices.set(notice.id, { ...notice, owner, leaseUntilMs });
      return due.slice(0, limit);
    },
    recordNotice: async ({ id, owner, ...outcome }: Parameters<AlertStore['recordNotice']>[0]) => {
      const notice = notices.get(id);
      if (notice?.owner !== owner) return false;
      const { owner: _owner, ...free } = notice;
      notices.set(id, { ...free, ...outcome, leaseUntilMs: 0 });
      return true;
    },
    listNotices: async ({ limit, undelivered }: Parameters<AlertStore['listNotices']>[0]) =>
      [...notices.values()].filter(({ status }) => !undelivered || status !== 'delivered').slice(0, limit),
    sweepAlerts: async () => 0,
  };
  return store;
}

/** A problem of a user's spend limit. */
export function findingOf(more: Partial<Finding> = {}): Finding {
  return {
    rule: 'budget',
    subject: 'user:ann',
    period: '2026-11',
    level: 1,
    threshold: 50,
    basis: '1000',
    severity: 'info',
    summary: 'User ann has used 50 %.',
    action: 'Raise the limit.',
    ...more,
  };
}
