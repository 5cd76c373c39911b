import { type Static, Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import { maySee } from '../../../accounts/people/principal.ts';
import type { CallbackStore, Delivery } from '../../../tasks/callbacks/callback-store.ts';
import type { TaskLists } from '../../../tasks/task-lists.ts';
import type { CallbackVault } from '../../../tasks/callbacks/callback-vault.ts';
import { instant, instantQuery, nullable, optionalInstant, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';

export type CallbackServices = ListServices & {
  readonly callbacks: Pick<TaskLists, 'queryDeliveries'> & Pick<CallbackStore, 'redeliver'>;
  readonly callbackVault: Pick<CallbackVault, 'rotate'>;
  readonly accounts: Pick<AccountsStore, 'listUsers'>;
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

const listCallbacks = operation({
  id: 'callbacks.list',
  method: 'GET',
  path: '/callbacks',
  summary: 'Events for the addresses of clients, newest first',
  access: 'calls:read',
  query: record({
    user: Type.Optional(Type.String({ maxLength: 256 })),
    state: Type.Optional(Type.Enum(['waiting', 'delivered', 'given_up'])),
    subject: Type.Optional(Type.String({ maxLength: 256, description: 'The id of the video or response.' })),
    from: Type.Optional(instantQuery('Made at or after it.')),
    to: Type.Optional(instantQuery('Made before it.')),
    ...pageQuery,
  }),
  reply: pageSchema(callbackSchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { limit = pageRowsDefault, cursor, ...fields } = query;
    const { user, state, subject, from, to } = fields;
    const question = { list: 'callbacks', users: principal.users, ...fields };
    const rows = await services.callbacks.queryDeliveries({
      users: principal.users,
      ...(user !== undefined && { userName: user.normalize('NFC') }),
      ...(state !== undefined && { status: states[state] }),
      ...(subject !== undefined && { subject }),
      ...(from !== undefined && { fromMs: Date.parse(from) }),
      ...(to !== undefined && { toMs: Date.parse(to) }),
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    });
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    const next_cursor = last === undefined ? null : services.cursors.write(question, { createdAtMs: last.createdAtMs, id: last.id });
    return { body: { items: shown.map(encodeDelivery), next_cursor, as_of: instant(nowMs()) } };
  },
});

const redeliver = operation({
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

const rotateSecret = operation({
  id: 'callbacks.rotate_secret',
  method: 'POST',
  path: '/users/{name}/callback_secret/rotate',
  summary: 'Makes a new secret that signs the events of a user, shown once; the old one also signs for 24 hours',
  access: 'keys:write',
  recentSignIn: true,
  params: record({ name: Type.String({ maxLength: 256 }) }),
  reply: record({ user: Type.String(), secret: Type.String({ description: 'Shown here once: whsec_…' }) }),
  handle: async ({ params }, { services, principal }: Context) => {
    const user = params.name.normalize('NFC');
    const exists = maySee(principal.users, user) && (await services.accounts.listUsers()).some(({ name }) => name === user);
    if (!exists) throw notFound('user of this name');
    return { body: { user, secret: await services.callbackVault.rotate(user, principal.author) } };
  },
});

export const callbackOperations: readonly Operation<CallbackServices>[] = [listCallbacks, redeliver, rotateSecret];
