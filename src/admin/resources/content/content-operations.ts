import { type Static, Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import { contentModeOf, contentModes, type ContentMode } from '../../../accounts/content-mode.ts';
import type { TeamStore } from '../../../accounts/team-store.ts';
import type { ContentErasure, ContentStore } from '../../../content/content-store.ts';
import { eraseContent } from '../../../content/erase-content.ts';
import { instant, instantQuery, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';

export type ContentServices = {
  readonly content: Pick<ContentStore, 'eraseContent' | 'listErasures'>;
  readonly accounts: Pick<AccountsStore, 'listApiKeys'>;
  readonly teams: Pick<TeamStore, 'listTeams'>;
  /** The most that the configuration lets anybody record. */
  readonly contentCeiling: () => ContentMode;
};
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

const mode = Type.Enum(contentModes);
const choiceSchema = record(
  {
    kind: Type.Enum(['team', 'key']),
    name: Type.String({ description: 'The team, or user/key.' }),
    chosen: Type.Enum([...contentModes, 'default'], { description: 'default: the key follows its team.' }),
    recorded: Type.Enum(contentModes, { description: 'The part that is recorded: never more than the ceiling.' }),
  },
  'A key or a team with a choice, and what it leads to.',
);

export const listChoices = operation({
  id: 'content.choices',
  method: 'GET',
  path: '/content/choices',
  summary: 'Teams and keys for which somebody has chosen how much of their content is recorded, and what that leads to',
  access: 'config:read',
  reply: record({
    ceiling: { ...mode, description: 'The most that the configuration lets anybody record.' },
    items: Type.Array(choiceSchema),
    as_of: Type.String(),
  }),
  handle: async (_input, { services, nowMs }: Context) => {
    const ceiling = services.contentCeiling();
    const teams = (await services.teams.listTeams()).flatMap(({ name, content }) =>
      content === undefined ? [] : [{ kind: 'team' as const, name, chosen: content, recorded: contentModeOf({ content }, ceiling) }],
    );
    const keys = (await services.accounts.listApiKeys()).flatMap((key) => {
      if (key.content === undefined && key.team?.content === undefined) return [];
      const name = `${key.userName}/${key.name}`;
      return [{ kind: 'key' as const, name, chosen: key.content ?? ('default' as const), recorded: contentModeOf(key, ceiling) }];
    });
    return { body: { ceiling, items: [...teams, ...keys], as_of: instant(nowMs()) } };
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

export const contentOperations: readonly Operation<ContentServices>[] = [listChoices, listErasures, erase];
