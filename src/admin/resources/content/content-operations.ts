import { type Static, Type } from 'typebox';

import type { ContentErasure, ContentStore } from '../../../content/content-store.ts';
import { eraseContent } from '../../../content/erase-content.ts';
import { instant, instantQuery, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';

export type ContentServices = { readonly content: Pick<ContentStore, 'eraseContent' | 'listErasures'> };
type Context = AdminContext<ContentServices>;

const erasureSchema = record(
  {
    user: Type.String(),
    before: Type.String({ description: 'Content of calls before this moment is deleted, and is not sent any more.' }),
    ordered_at: Type.String(),
    objects_left: Type.Integer({ description: 'Objects in buckets and folders that gateways have not deleted yet.' }),
  },
  'The order that the recorded content of a user is deleted.',
);

const encodeErasure = ({ user, beforeMs, orderedAtMs, objectsLeft }: ContentErasure): Static<typeof erasureSchema> => ({
  user,
  before: instant(beforeMs),
  ordered_at: instant(orderedAtMs),
  objects_left: objectsLeft,
});

export const listErasures = operation({
  id: 'content.erasures.list',
  method: 'GET',
  path: '/content/erasures',
  summary: 'Orders to delete the recorded content of users, newest first',
  access: 'config:read',
  reply: pageSchema(erasureSchema),
  handle: async (_input, { services, nowMs }: Context) => {
    const erasures = await services.content.listErasures();
    return { body: { items: erasures.map(encodeErasure), next_cursor: null, as_of: instant(nowMs()) } };
  },
});

export const erase = operation({
  id: 'content.erase',
  method: 'POST',
  path: '/content/erasures',
  summary: 'Deletes the recorded content of a user, in spools, buckets and folders',
  access: 'config:write',
  recentSignIn: true,
  status: 202,
  body: request({
    user: Type.String({ minLength: 1, maxLength: 256 }),
    before: Type.Optional(instantQuery('Calls before it; until now unless given.')),
  }),
  reply: erasureSchema,
  handle: async ({ body }, { services, change }: Context) => {
    const beforeMs = body.before === undefined ? undefined : Date.parse(body.before);
    const erasure = await eraseContent(services.content, { userName: body.user, beforeMs }, change());
    if (erasure === undefined) throw notFound('user of this name');
    return { body: encodeErasure(erasure) };
  },
});

export const contentOperations: readonly Operation<ContentServices>[] = [listErasures, erase];
