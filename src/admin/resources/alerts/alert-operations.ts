import { type Static, Type } from 'typebox';

import { type Alert, alertRuleCodes, severities } from '../../../alerts/alert.ts';
import type { AlertStore, Notice } from '../../../alerts/alert-store.ts';
import type { Principal } from '../../../accounts/people/principal.ts';
import { instant, nullable, optionalInstant, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { answerStarted, operationSchema, type OperationServices } from '../operations/operation-resource.ts';

export type AlertServices = OperationServices & { readonly alerts: Pick<AlertStore, 'listAlerts' | 'listNotices'> };
type Context = AdminContext<AlertServices>;

/** Alerts are swept some days after their end, so that a list is short. */
const rowsMax = 1000;
const rowsDefault = 200;
const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: rowsMax, description: `The most entries; ${rowsDefault} unless given.` }));

/** The kind of operations that send a test message. */
export const alertTestKind = 'alerts.test';

const alertSchema = record(
  {
    code: Type.Enum(alertRuleCodes),
    subject: Type.String({ examples: ['upstream:openai', 'user:ann'] }),
    period: Type.String({ description: 'The day or month of a limit; otherwise empty.' }),
    severity: Type.Enum(severities),
    since: Type.String(),
    resolved_at: nullable(Type.String()),
    summary: Type.String(),
    action: Type.String({ description: 'The action that ends it.' }),
  },
  'A problem that exists or existed.',
);

const encodeAlert = (alert: Alert): Static<typeof alertSchema> => ({
  code: alert.rule,
  subject: alert.subject,
  period: alert.period,
  severity: alert.severity,
  since: instant(alert.sinceMs),
  resolved_at: optionalInstant(alert.resolvedAtMs),
  summary: alert.summary,
  action: alert.action,
});

/** Whether somebody may see a problem: all with `upstreams:read`, and otherwise those of a user; owners see theirs. */
export function maySeeProblem({ users, permissions }: Principal, subject: string): boolean {
  if (users !== 'all') return users.some((user) => subject === `user:${user}`);
  return permissions.has('upstreams:read') || subject.startsWith('user:');
}

/** The most urgent first, and then the newest. */
const byUrgency = (one: Alert, other: Alert): number =>
  severities.indexOf(other.severity) - severities.indexOf(one.severity) || other.sinceMs - one.sinceMs;

export const listAlerts = operation({
  id: 'alerts.list',
  method: 'GET',
  path: '/alerts',
  summary: 'Present problems, the most urgent first, or those of the last days that have ended, newest end first',
  access: 'usage:read',
  query: record({ state: Type.Optional(Type.Enum(['open', 'resolved'], { description: 'open unless given.' })), limit }),
  reply: pageSchema(alertSchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { state = 'open' } = query;
    const found = await services.alerts.listAlerts({ state, limit: 10_000 });
    const seen = found.filter(({ subject }) => maySeeProblem(principal, subject));
    const ordered = state === 'open' ? seen.toSorted(byUrgency) : seen;
    return {
      body: { items: ordered.slice(0, query.limit ?? rowsDefault).map(encodeAlert), next_cursor: null, as_of: instant(nowMs()) },
    };
  },
});

const messageSchema = record(
  {
    id: Type.String({ description: 'The same for each attempt.' }),
    channel: Type.String({ description: 'The name in the configuration.' }),
    event: Type.Enum(['firing', 'resolved', 'test']),
    rule: Type.String(),
    subject: Type.String(),
    state: Type.Enum(['waiting', 'delivered', 'given_up']),
    attempts: Type.Integer(),
    created_at: Type.String(),
    next_attempt_at: nullable(Type.String()),
    last_problem: nullable(Type.String()),
  },
  'A message about a problem for one channel.',
);

const encodeNotice = (notice: Notice): Static<typeof messageSchema> => ({
  id: notice.id,
  channel: notice.channel,
  event: notice.event,
  rule: notice.rule,
  subject: notice.subject,
  state: notice.status === 'given-up' ? 'given_up' : notice.status,
  attempts: notice.attempts,
  created_at: instant(notice.createdAtMs),
  next_attempt_at: notice.status === 'waiting' ? instant(notice.nextAttemptAtMs) : null,
  last_problem: notice.lastProblem ?? null,
});

export const listMessages = operation({
  id: 'alerts.messages',
  method: 'GET',
  path: '/alerts/messages',
  summary: 'Messages about problems, newest first, with what the last attempt said',
  access: 'config:read',
  query: record({ undelivered: Type.Optional(Type.Boolean({ description: 'Only those that were not delivered.' })), limit }),
  reply: pageSchema(messageSchema),
  handle: async ({ query }, { services, nowMs }: Context) => {
    const notices = await services.alerts.listNotices({ limit: query.limit ?? rowsDefault, undelivered: query.undelivered ?? false });
    return { body: { items: notices.map(encodeNotice), next_cursor: null, as_of: instant(nowMs()) } };
  },
});

export const testChannels = operation({
  id: alertTestKind,
  method: 'POST',
  path: '/alerts/tests',
  summary: 'Lets a gateway send a test message now, to all channels of its configuration or to the named ones',
  access: 'config:write',
  recentSignIn: true,
  status: 202,
  body: request({
    channels: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100, description: 'All unless given.' })),
  }),
  reply: operationSchema,
  handle: async ({ body }, { services, change }: Context) => {
    const started = await services.operations.start({
      kind: alertTestKind,
      permission: 'config:write',
      input: { channels: body.channels ?? [] },
      change: change(),
      isAudited: true,
      startWithinMs: 30_000,
    });
    return answerStarted(started);
  },
});

export const alertOperations: readonly Operation<AlertServices>[] = [listAlerts, listMessages, testChannels];
