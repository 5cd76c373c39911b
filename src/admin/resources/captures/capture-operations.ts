import { type Static, Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import { type Capture, type CapturedCall, captureLimits, type CaptureStore } from '../../../content/captures/capture.ts';
import { orderCapture, readWires } from '../../../content/captures/manage-captures.ts';
import { wireNames } from '../../../content/captures/wires.ts';
import type { Sealer } from '../../../platform/seal/sealer.ts';
import { instant, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';

export type CaptureServices = {
  readonly captures: Pick<CaptureStore, 'insertCapture' | 'listCaptures' | 'deleteCapture' | 'findWires'> &
    Pick<AuditStore, 'recordAction'>;
  readonly accounts: Pick<AccountsStore, 'queryApiKeys'>;
  /** Opens captured wires. A function, because only few operations need the key. */
  readonly wireSealer: () => Sealer;
  readonly newId: (prefix: string) => string;
};
type Context = AdminContext<CaptureServices>;

export const captureSchema = record(
  {
    id: Type.String(),
    key_id: Type.String(),
    key: Type.String(),
    user: Type.String(),
    calls: Type.Integer({ description: 'The most calls that are kept.' }),
    taken: Type.Integer({ description: 'Calls that were kept until now.' }),
    state: Type.Enum(['open', 'over']),
    created_at: Type.String(),
    until: Type.String({ description: 'No call that begins later is kept.' }),
    created_by: Type.String(),
    kept: Type.Array(record({ call_id: Type.String(), at: Type.String(), bytes: Type.Integer() }), {
      description: 'Calls whose wires are still there, newest first.',
    }),
  },
  'An order to keep the next calls of one key as they are on the wire, for a day.',
);

export const encodeCapture = (capture: Capture, kept: readonly CapturedCall[], nowMs: number): Static<typeof captureSchema> => ({
  id: capture.id,
  key_id: capture.keyId,
  key: capture.keyName,
  user: capture.userName,
  calls: capture.calls,
  taken: capture.taken,
  state: capture.untilMs > nowMs && capture.taken < capture.calls ? 'open' : 'over',
  created_at: instant(capture.createdAtMs),
  until: instant(capture.untilMs),
  created_by: capture.createdBy,
  kept: kept.map(({ callId, atMs, bytes }) => ({ call_id: callId, at: instant(atMs), bytes })),
});

export const listCaptures = operation({
  id: 'captures.list',
  method: 'GET',
  path: '/captures',
  summary: 'Captures of the last day, newest first, with the calls that are kept; owners see those of their keys',
  access: 'calls:read',
  reply: pageSchema(captureSchema),
  handle: async (_input, { services, principal, nowMs }: Context) => {
    const atMs = nowMs();
    const captures = await services.captures.listCaptures({ users: principal.users, nowMs: atMs });
    return { body: { items: captures.map((each) => encodeCapture(each, each.kept, atMs)), next_cursor: null, as_of: instant(atMs) } };
  },
});

export const createCapture = operation({
  id: 'captures.create',
  method: 'POST',
  path: '/captures',
  summary: 'Keeps the next calls of a key for a day; all gateways begin within two seconds',
  access: 'config:write',
  recentSignIn: true,
  status: 201,
  body: request({
    key_id: Type.String({ minLength: 1, maxLength: 64 }),
    calls: Type.Integer({ minimum: 1, maximum: captureLimits.calls, description: 'The most calls to keep.' }),
    minutes: Type.Integer({ minimum: 1, maximum: captureLimits.durationMs / 60_000, description: 'How long calls are kept.' }),
  }),
  reply: captureSchema,
  handle: async ({ body }, { services, principal, change, nowMs }: Context) => {
    const [key] = await services.accounts.queryApiKeys({ users: principal.users, ids: [body.key_id], order: 'oldest', limit: 1 });
    if (key === undefined) throw notFound('key of this id');
    const order = { id: services.newId('cap'), key, calls: body.calls, durationMs: body.minutes * 60_000 };
    const capture = await orderCapture(services.captures, order, change());
    if (capture === undefined) throw new AdminProblem('conflict', 'The key has an open capture; delete it first.');
    return { body: encodeCapture(capture, [], nowMs()), location: `/captures/${capture.id}` };
  },
});

export const deleteCapture = operation({
  id: 'captures.delete',
  method: 'DELETE',
  path: '/captures/{id}',
  summary: 'Ends a capture and deletes the calls that it has kept',
  access: 'config:write',
  recentSignIn: true,
  status: 204,
  params: record({ id: Type.String({ maxLength: 64 }) }),
  handle: async ({ params }, { services, change }: Context): Promise<Answer<undefined>> => {
    if (!(await services.captures.deleteCapture(params.id, change()))) throw notFound('capture of this id');
    return { body: undefined };
  },
});

const wireSchema = record(
  {
    start: Type.String({ description: 'Method and path of a request, or the status of a reply.' }),
    headers: Type.Object({}, { additionalProperties: Type.String(), description: 'Values that may be credentials are replaced.' }),
    body: Type.String(),
    encoding: Type.Enum(['text', 'base64']),
    body_bytes: Type.Integer({ description: 'Of the whole body.' }),
    is_cut: Type.Boolean({ description: 'Whether the end of the body was left out.' }),
  },
  'One direction of a call, without credentials.',
);

export const wiresSchema = Type.Object(Object.fromEntries(wireNames.map((name) => [name, Type.Optional(wireSchema)])), {
  additionalProperties: false,
});

export const getWires = operation({
  id: 'calls.wires',
  method: 'GET',
  path: '/calls/{id}/wires',
  summary: 'The four wires of a captured call; each reading is a row of the audit log',
  access: 'content:read',
  recentSignIn: true,
  params: record({ id: Type.String({ maxLength: 200 }) }),
  reply: wiresSchema,
  handle: async ({ params }, { services, principal, change }: Context) => {
    const parts = { store: services.captures, sealer: services.wireSealer() };
    const wires = await readWires(parts, { callId: params.id, users: principal.users }, change());
    if (wires === undefined) throw notFound('captured call of this id');
    return { body: wires };
  },
});

export const captureOperations: readonly Operation<CaptureServices>[] = [listCaptures, createCapture, deleteCapture, getWires];
