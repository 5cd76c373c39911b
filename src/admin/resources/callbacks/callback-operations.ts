import { type Static, Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import { findUserNamed } from '../../../accounts/user-query.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { CallbackStore, Delivery } from '../../../tasks/callbacks/callback-store.ts';
import type { TaskLists } from '../../../tasks/task-lists.ts';
import { CallbackKeyError, type CallbackVault } from '../../../tasks/callbacks/callback-vault.ts';
import { instant, instantQuery, nullable, optionalInstant, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';

export type CallbackServices = ListServices & {
  readonly callbacks: Pick<TaskLists, 'queryDeliveries'> & Pick<CallbackStore, 'redeliver'>;
  readonly callbackVault: Pick<CallbackVault, 'rotate' | 'secretsOf'>;
  readonly audit: Pick<AuditStore, 'recordAction'>;
  readonly accounts: Pick<AccountsStore, 'queryUsers'>;
};
type Context = AdminContext<CallbackServices>;

const states = { waiting: 'waiting', delivered: 'delivered', given_up: 'given-up' } as const;
const callbackSchema = record(
  {
    id: Type.String({ description: 'The header webhook-id of every attempt.' }),
    user: Type.String(),
    event: Type.String({ examples: ['video.completed'] }),
    subject: Type.String({ description: 'The id of the video or response.' }),
    state: Type.Enum(['waiting', 'delivered', 'given_up']),
    attempts: Type.Integer(),
    created_at: Type.String(),
    next_attempt_at: nullable(Type.String()),
    delivered_at: nullable(Type.String()),
    last_status: nullable(Type.Integer({ description: 'Status of the last answer; null if there was none.' })),
    last_problem: nullable(Type.String()),
  },
  'An event for the address of a client. The address is not shown, because it may have a credential.',
);

const encodeDelivery = (delivery: Delivery): Static<typeof callbackSchema> => ({
  id: delivery.id,
  user: delivery.userName,
  event: delivery.eventType,
  subject: delivery.subject,
  state: delivery.status === 'given-up' ? 'given_up' : delivery.status,
  attempts: delivery.attempts,
  created_at: instant(delivery.createdAtMs),
  next_attempt_at: delivery.status === 'waiting' ? instant(delivery.nextAttemptAtMs) : null,
  delivered_at: optionalInstant(delivery.deliveredAtMs),
  last_status: delivery.lastStatus ?? null,
  last_problem: delivery.lastProblem ?? null,
});

const positionSchema = Type.Object({ createdAtMs: Type.Number(), id: Type.String() });

export const listCallbacks = operation({
  id: 'callbacks.list',
  method: 'GET',
  path: '/callbacks',
  summary: 'Events for the addresses of clients, newest first',
  access: 'calls:read',
  query: record({
    user: Type.Optional(Type.String({ maxLength: 256 })),
    id: Type.Optional(Type.String({ maxLength: 200 })),
    state: Type.Optional(Type.Enum(['waiting', 'delivered', 'given_up'])),
    subject: Type.Optional(Type.String({ maxLength: 256, description: 'The id of the video or response.' })),
    from: Type.Optional(instantQuery('Made at or after it.')),
    to: Type.Optional(instantQuery('Made before it.')),
    ...pageQuery,
  }),
  reply: pageSchema(callbackSchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { limit = pageRowsDefault, cursor, ...fields } = query;
    const { user, id, state, subject, from, to } = fields;
    const question = { list: 'callbacks', users: principal.users, ...fields };
    const rows = await services.callbacks.queryDeliveries({
      users: principal.users,
      ...(user !== undefined && { userName: user.normalize('NFC') }),
      ...(id !== undefined && { id }),
      ...(state !== undefined && { status: states[state] }),
      ...(subject !== undefined && { subject }),
      ...(from !== undefined && { fromMs: Date.parse(from) }),
      ...(to !== undefined && { toMs: Date.parse(to) }),
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    });
    const { shown, next_cursor } = cutPage(rows, limit, (last) =>
      services.cursors.write(question, { createdAtMs: last.createdAtMs, id: last.id }),
    );
    return { body: { items: shown.map(encodeDelivery), next_cursor, as_of: instant(nowMs()) } };
  },
});

export const redeliver = operation({
  id: 'callbacks.redeliver',
  method: 'POST',
  path: '/callbacks/{id}/redeliver',
  summary: 'Sends an event again, beginning with its first attempt',
  access: 'keys:write',
  params: record({ id: Type.String({ maxLength: 200 }) }),
  reply: callbackSchema,
  handle: async ({ params: { id } }, { services, principal, change }: Context) => {
    const find = async (): Promise<Delivery | undefined> =>
      (await services.callbacks.queryDeliveries({ users: principal.users, id, limit: 1 }))[0];
    const found = await find();
    const isSent = found !== undefined && (await services.callbacks.redeliver({ userName: found.userName, id, change: change() }));
    if (!isSent) throw notFound('callback of this id');
    return { body: encodeDelivery((await find()) ?? found) };
  },
});

/** @throws AdminProblem `not_found` if there is no such user, or the caller may not see it */
async function findUser({ services, principal }: Context, name: string): Promise<string> {
  const user = await findUserNamed(services.accounts, principal.users, name);
  if (user === undefined) throw notFound('user of this name');
  return user.name;
}

export const readSecret = operation({
  id: 'callbacks.read_secret',
  method: 'POST',
  path: '/users/{name}/callback_secret/read',
  summary: 'The secret that signs the events of a user, made if there is none; each reading is in the audit log',
  access: 'keys:write',
  recentSignIn: true,
  params: record({ name: Type.String({ maxLength: 256 }) }),
  reply: record({ user: Type.String(), secret: Type.String({ description: 'whsec_…' }) }),
  handle: async ({ params }, context: Context) => {
    const user = await findUser(context, params.name);
    const { services, change } = context;
    try {
      const [secret] = await services.callbackVault.secretsOf(user);
      await services.audit.recordAction({ action: 'callback_secrets.read', subject: `user:${user}` }, change());
      return { body: { user, secret } };
    } catch (error) {
      throw error instanceof CallbackKeyError ? new AdminProblem('conflict', `${error.message}.`, { cause: error }) : error;
    }
  },
});

export const rotateSecret = operation({
  id: 'callbacks.rotate_secret',
  method: 'POST',
  path: '/users/{name}/callback_secret/rotate',
  summary: 'Makes a new secret that signs the events of a user, shown once; the old one also signs for 24 hours',
  access: 'keys:write',
  recentSignIn: true,
  params: record({ name: Type.String({ maxLength: 256 }) }),
  reply: record({ user: Type.String(), secret: Type.String({ description: 'Shown here once: whsec_…' }) }),
  handle: async ({ params }, context: Context) => {
    const user = await findUser(context, params.name);
    return { body: { user, secret: await context.services.callbackVault.rotate(user, context.principal.author) } };
  },
});

export const callbackOperations: readonly Operation<CallbackServices>[] = [listCallbacks, redeliver, readSecret, rotateSecret];
