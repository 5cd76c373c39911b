import { Type } from 'typebox';

import type { ListedRefusal, RefusalStore } from '../../../audit/refusals/refusal.ts';
import { instant, instantQuery, nullable, pageQuery, pageRowsDefault, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';

export type RefusalServices = ListServices & { readonly refusals: Pick<RefusalStore, 'listRefusals'> };

const refusalSchema = record(
  {
    at: Type.String(),
    code: Type.String({ examples: ['invalid_api_key', 'rate_limited'] }),
    status: Type.Integer(),
    message: Type.String({ description: "The sentence that the client got, without the client's own values." }),
    key_id: nullable(Type.String({ description: 'Null: the request had no key, or an unknown one.' })),
    user: nullable(Type.String()),
    key: nullable(Type.String()),
    address: nullable(Type.String({ description: 'Of the client, as far as trusted proxies name it.' })),
    interface: Type.String({ description: 'Interface that the client spoke.' }),
    path: Type.String({ description: 'Without its query; ids and unusual parts are …' }),
    model: nullable(Type.String({ description: 'As the client asked for it, if the gateway serves it.' })),
    request_id: Type.String({ description: 'As the client got it.' }),
  },
  'A request that was refused before it was sent to an upstream.',
);

const encodeRefusal = (refusal: ListedRefusal) => ({
  at: instant(refusal.atMs),
  code: refusal.code,
  status: refusal.status,
  message: refusal.message,
  key_id: refusal.keyId ?? null,
  user: refusal.userName ?? null,
  key: refusal.keyName ?? null,
  address: refusal.address ?? null,
  interface: refusal.interface,
  path: refusal.path,
  model: refusal.model ?? null,
  request_id: refusal.requestId,
});

const text = (description: string) => Type.Optional(Type.String({ maxLength: 256, description }));

export const listRefusals = operation({
  id: 'refusals.list',
  method: 'GET',
  path: '/refusals',
  summary: 'Requests that the gateway refused in the last 7 days, newest first; of a flood only a sample',
  access: 'calls:read',
  query: record({
    user: text('User of the key.'),
    key_id: text('Key, by its id.'),
    code: text('Code of the error.'),
    status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599 })),
    request_id: text('The id that the client got.'),
    from: Type.Optional(instantQuery('Included.')),
    to: Type.Optional(instantQuery('Not included.')),
    ...pageQuery,
  }),
  reply: pageSchema(refusalSchema),
  handle: async ({ query }, { services, principal, nowMs }: AdminContext<RefusalServices>) => {
    const { limit = pageRowsDefault, cursor, ...fields } = query;
    const { user, key_id, code, status, request_id, from, to } = fields;
    const question = { list: 'refusals', users: principal.users, ...fields };
    const rows = await services.refusals.listRefusals({
      users: principal.users,
      ...(user !== undefined && { userName: user.normalize('NFC') }),
      ...(key_id !== undefined && { keyId: key_id }),
      ...(code !== undefined && { code }),
      ...(status !== undefined && { status }),
      ...(request_id !== undefined && { requestId: request_id }),
      ...(from !== undefined && { fromMs: Date.parse(from) }),
      ...(to !== undefined && { toMs: Date.parse(to) }),
      ...(cursor !== undefined && { before: readPosition(Type.Integer(), services.cursors.read(question, cursor)) }),
      limit: limit + 1,
    });
    const { shown, next_cursor } = cutPage(rows, limit, (last) => services.cursors.write(question, last.sequence));
    return { body: { items: shown.map(encodeRefusal), next_cursor, as_of: instant(nowMs()) } };
  },
});

export const refusalOperations: readonly Operation<RefusalServices>[] = [listRefusals];
