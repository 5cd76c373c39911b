import type { Alert, AlertMember, Finding } from './alert.ts';

/** A new state of an alert, and the event to announce; no event if only its text or its members changed. */
export type AlertChange = { readonly alert: Alert; readonly event?: 'firing' | 'resolved' };

type Members = Readonly<Record<string, AlertMember>>;

/**
 * Compares an alert with the problem that exists now.
 * @param alert the stored alert of the identity; undefined if there was none
 * @param finding undefined if the problem does not exist
 * @param members the bad parts, of observed rules
 * @returns undefined if nothing changes
 */
export function reconcileAlert(
  alert: Alert | undefined,
  finding: Finding | undefined,
  nowMs: number,
  members: Members = {},
): AlertChange | undefined {
  if (finding !== undefined)
    return alert === undefined ? { alert: open(finding, nowMs, members), event: 'firing' } : goOn(alert, finding, nowMs, members);
  if (alert === undefined || alert.state === 'resolved') return undefined;
  const resolved: Alert = { ...alert, members: {}, version: alert.version + 1, state: 'resolved', resolvedAtMs: nowMs };
  // The end of an alert that was only for knowledge is not news.
  return alert.severity === 'info' ? { alert: resolved } : { alert: resolved, event: 'resolved' };
}

function open(finding: Finding, nowMs: number, members: Members): Alert {
  return { ...finding, state: 'open', version: 1, episode: 1, sinceMs: nowMs, members, channels: [] };
}

function goOn(alert: Alert, finding: Finding, nowMs: number, members: Members): AlertChange | undefined {
  const announced = announcedLevel(alert, finding);
  const isNews = finding.level > announced;
  if (alert.state === 'resolved') {
    const { resolvedAtMs: _resolved, ...before } = alert;
    const again: Alert = {
      ...before,
      ...finding,
      level: Math.max(announced, finding.level),
      members,
      version: alert.version + 1,
      state: 'open',
      episode: alert.episode + 1,
      sinceMs: nowMs,
      // An episode that nobody was notified of ends without a message too.
      channels: [],
    };
    return isNews ? { alert: again, event: 'firing' } : { alert: again };
  }
  // The announced level stays while the use falls, so that a value around a threshold is announced once.
  const level = Math.max(announced, finding.level);
  const shown = level > finding.level ? pickShown(alert) : {};
  const next: Alert = { ...alert, ...finding, ...shown, level, members, version: alert.version + 1 };
  if (!isNews && isSame(alert, next)) return undefined;
  return isNews ? { alert: next, event: 'firing' } : { alert: next };
}

/** The highest level that needs no further message. */
function announcedLevel(alert: Alert, finding: Finding): number {
  if (alert.state === 'resolved') {
    // A rule without periods starts again with each episode; so does a new limit.
    return finding.period === '' || alert.basis !== finding.basis ? 0 : alert.level;
  }
  return alert.basis === finding.basis ? alert.level : Math.min(alert.level, finding.level);
}

/** What describes the level that was announced. */
function pickShown({ severity, threshold }: Alert): Partial<Finding> {
  return { severity, ...(threshold === undefined ? {} : { threshold }) };
}

function isSame(before: Alert, after: Alert): boolean {
  const text = ({ version: _version, ...alert }: Alert): string =>
    JSON.stringify(Object.entries(alert).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return text(before) === text(after);
}
