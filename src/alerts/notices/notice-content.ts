import { createHash } from 'node:crypto';

import type { NewNotice, NoticeEvent } from '../alert-store.ts';
import { type AlertRule, severities, type Severity } from '../alert.ts';
import type { AlertChange } from '../reconcile-alert.ts';

/** The facts of a message, before a channel gives them its form. */
export type NoticeContent = {
  readonly event: NoticeEvent;
  readonly rule: AlertRule | 'test';
  readonly subject: string;
  readonly period: string;
  readonly threshold?: number;
  readonly severity: Severity;
  readonly summary: string;
  readonly action: string;
  readonly sinceMs: number;
  readonly resolvedAtMs?: number;
};

/** Which messages a channel gets. */
export type NoticeFilter = {
  /** Absent: those of all rules. */
  readonly rules?: readonly AlertRule[];
  /** The least severity. */
  readonly severity: Severity;
};

/**
 * The messages about a change: one for each channel that wants it. Its end goes to the channels that got its opening.
 * The ids are derived from the alert, so that gateways that announce the same change add the same messages.
 */
export function createNotices(
  { alert, event }: AlertChange,
  channels: Readonly<Record<string, NoticeFilter>>,
  nowMs: number,
): readonly NewNotice[] {
  if (event === undefined) return [];
  const { rule, subject, period, threshold, severity, summary, action, sinceMs, resolvedAtMs, episode, level } = alert;
  const content: NoticeContent = {
    event,
    rule,
    subject,
    period,
    ...(threshold === undefined ? {} : { threshold }),
    severity,
    summary,
    action,
    sinceMs,
    ...(resolvedAtMs === undefined ? {} : { resolvedAtMs }),
  };
  const wants = ([name, filter]: readonly [string, NoticeFilter]): boolean =>
    event === 'resolved'
      ? alert.channels.includes(name)
      : (filter.rules?.includes(rule) ?? true) && severities.indexOf(severity) >= severities.indexOf(filter.severity);
  return Object.entries(channels)
    .filter(wants)
    .map(([channel]) => ({
      id: noticeId([rule, subject, period, alert.basis, String(episode), event, String(level), channel]),
      channel,
      event,
      rule,
      subject,
      content: JSON.stringify(content),
      createdAtMs: nowMs,
    }));
}

/** The id of a message, which reveals nothing of its parts. */
export function noticeId(parts: readonly string[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 26)}`;
}

/** The content of a stored message. It was written by createNotices. */
export function readContent(text: string): NoticeContent {
  return JSON.parse(text) as NoticeContent;
}

/** The first line of a message. */
export function titleOf({ event, severity, summary }: NoticeContent): string {
  if (event === 'test') return 'Test of an alert channel of Weir';
  return event === 'resolved' ? `Resolved: ${summary}` : `${severity[0]?.toUpperCase() ?? ''}${severity.slice(1)}: ${summary}`;
}

/** The other facts, by name. */
export function factsOf({
  event,
  rule,
  subject,
  period,
  threshold,
  action,
  sinceMs,
  resolvedAtMs,
}: NoticeContent): readonly [string, string][] {
  return [
    ...(event === 'resolved' ? [] : ([['What to do', action]] as [string, string][])),
    ['Rule', rule],
    ['Subject', subject],
    ...(period === '' ? [] : ([['Period', period]] as [string, string][])),
    ...(threshold === undefined ? [] : ([['Threshold', String(threshold)]] as [string, string][])),
    ['Since', new Date(sinceMs).toISOString()],
    ...(resolvedAtMs === undefined ? [] : ([['Resolved', new Date(resolvedAtMs).toISOString()]] as [string, string][])),
  ];
}
