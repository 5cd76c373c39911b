import { type Static, Type } from 'typebox';

import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import type { AccessLimitsChange } from '../../../accounts/access-limits.ts';
import type { Accounts } from '../../../accounts/create-accounts.ts';
import type { KeyQuery, ListedApiKey } from '../../../accounts/key-store.ts';
import { bulkKeysMax, overlapMsMax } from '../../../accounts/manage-keys.ts';
import { chosenSecretCharactersMin, secretCharactersMax } from '../../../accounts/secret-limits.ts';
import { type CallTags, isCallTags, sortTags, tagLimits } from '../../../accounts/call-tags.ts';
import { isListed } from '../../../accounts/is-listed.ts';
import { maySee } from '../../../accounts/people/principal.ts';
import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { ChangeAuthor } from '../../../audit/change-author.ts';
import { contentModeSchema } from '../../contract/content.ts';
import { decodeLimitsChange, limitsChangeSchema } from '../../contract/limits.ts';
import { instant, instantQuery, pageQuery, pageRowsDefault, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { permissionProblem } from '../../permission-problem.ts';
import { AdminProblem, invalidField, notFound } from '../../problem.ts';
import type { ListServices } from '../list-services.ts';
import { readPosition } from '../read-position.ts';
import { cutPage } from '../cut-page.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import { booksOperation } from '../books-operation.ts';
import { createdSchema, disconnect, encodeKeys, keySchema, type KeySpendServices, retention } from './key-schema.ts';

export type KeyServices = ControlServices &
  ListServices &
  KeySpendServices & {
    /** Accounts whose changes have this author. */
    readonly accountsBy: (author: ChangeAuthor) => Accounts;
    readonly accounts: Pick<AccountsStore, 'queryApiKeys' | 'editApiKey' | 'deleteApiKey'>;
    readonly audit: Pick<AuditStore, 'subjectVersion'>;
  };
type Context = AdminContext<KeyServices>;

const name = Type.String({ minLength: 1, maxLength: 256 });

const idParams = record({ id: Type.String({ maxLength: 64 }) });
const subject = ({ id }: Readonly<Record<string, string>>): string => `key:${id ?? ''}`;

/** A key that the caller may see, with its version. @throws AdminProblem `not_found` */
async function find({ services, principal, nowMs }: Context, id: string): Promise<Answer<Static<typeof keySchema>>> {
  const version = await services.audit.subjectVersion(subject({ id }));
  const keys = await services.accounts.queryApiKeys({ users: principal.users, ids: [id], order: 'oldest', limit: 1 });
  const [body] = await encodeKeys(services, keys, nowMs());
  if (body === undefined) throw notFound('key of this id');
  return { body, version };
}

const listQuery = record({
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "A part of the key's or the user's name, or of the secret's last characters, in whatever case.",
    }),
  ),
  model: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'Keys that may call it by their lists of models and those of user, team and organization. A page may end before its limit.',
    }),
  ),
  user: Type.Optional(Type.String({ maxLength: 256 })),
  state: Type.Optional(Type.Enum(['enabled', 'disabled'])),
  expires_before: Type.Optional(instantQuery('Keys that expire earlier, by their own limits or those of their user.')),
  unused_since: Type.Optional(instantQuery('Keys that were not used since.')),
  ...pageQuery,
});
/** The keys that one page searches for those that may call a model. */
const keysSearched = 2000;

/** Lists of models have patterns on four levels, which no index knows. */
function mayCallModel({ limits, userLimits, team, organizationLimits }: ListedApiKey, model: string): boolean {
  return [limits, userLimits, team?.limits, organizationLimits].every((level) => isListed(level?.models, model));
}

const positionSchema = Type.Object({ createdAtMs: Type.Integer(), id: Type.String() });

export const listKeys = booksOperation({
  id: 'keys.list',
  method: 'GET',
  path: '/keys',
  summary: 'API keys that are not deleted, newest first',
  access: 'keys:read',
  query: listQuery,
  reply: pageSchema(keySchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { limit = pageRowsDefault, cursor, q, model, user, state, expires_before, unused_since } = query;
    const question = { list: 'keys', users: principal.users, q, model, user, state, expires_before, unused_since };
    const asked: KeyQuery = {
      users: principal.users,
      ...(q !== undefined && { text: q.normalize('NFC') }),
      ...(user !== undefined && { userName: user.normalize('NFC') }),
      ...(state !== undefined && { isEnabled: state === 'enabled' }),
      ...(expires_before !== undefined && { expiresBeforeMs: Date.parse(expires_before) }),
      ...(unused_since !== undefined && { unusedSinceMs: Date.parse(unused_since) }),
      ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
      order: 'newest',
      limit: model === undefined ? limit + 1 : keysSearched,
    };
    const found = await services.accounts.queryApiKeys(asked);
    const keys = model === undefined ? found : found.filter((key) => mayCallModel(key, model));
    const writeCursor = ({ createdAtMs, id }: ListedApiKey): string => services.cursors.write(question, { createdAtMs, id });
    const { shown, next_cursor } = cutPage(keys, limit, writeCursor);
    // The search may have ended among keys that may not call the model.
    const last = next_cursor === null && found.length === asked.limit && model !== undefined ? found.at(-1) : undefined;
    const atMs = nowMs();
    return {
      body: {
        items: await encodeKeys(services, shown, atMs),
        next_cursor: last === undefined ? next_cursor : writeCursor(last),
        as_of: instant(atMs),
      },
    };
  },
});

export const getKey = booksOperation({
  id: 'keys.get',
  method: 'GET',
  path: '/keys/{id}',
  summary: 'One API key',
  access: 'keys:read',
  params: idParams,
  reply: keySchema,
  handle: ({ params }, context: Context) => find(context, params.id),
});

const options = {
  strict_translation: Type.Optional(Type.Boolean()),
  response_retention_days: Type.Optional(retention),
  disconnect: Type.Optional(disconnect),
  content: Type.Optional(contentModeSchema('as its team says')),
  limits: Type.Optional(limitsChangeSchema),
  tags: Type.Optional(
    Type.Object({}, { additionalProperties: Type.String(), description: `At most ${tagLimits.tags} tags of all calls of the key.` }),
  ),
};

/** Tags in a request. @throws AdminProblem `invalid_request` */
function tagsOf(written: object): CallTags {
  if (isCallTags(written)) return sortTags(written);
  const detail = `The field tags must have at most ${tagLimits.tags} names in lower case with values such as prod or web search.`;
  throw invalidField('/tags', 'refused', detail);
}

export const createKey = booksOperation({
  id: 'keys.create',
  method: 'POST',
  path: '/keys',
  summary: 'Makes an API key, and its user if there is none of that name; shows its secret once',
  access: 'keys:write',
  status: 201,
  body: request({ user: name, name, ...options }),
  reply: createdSchema,
  handle: async ({ body }, context: Context) => {
    const { services, principal, change } = context;
    if (!maySee(principal.users, body.user.normalize('NFC'))) throw notFound('user of this name');
    const limits = limitsOf(principal, body.limits);
    const created = await services.accountsBy(change()).createApiKey({
      userName: body.user,
      name: body.name,
      strictTranslation: body.strict_translation ?? false,
      responseRetentionDays: body.response_retention_days ?? undefined,
      disconnectPolicy: body.disconnect ?? undefined,
      content: body.content ?? undefined,
      limits,
      ...(body.tags !== undefined && { tags: tagsOf(body.tags) }),
    });
    const { body: key, version = 0 } = await find(context, created.key.id);
    return { body: { ...key, secret: created.secret }, version, location: `/keys/${created.key.id}` };
  },
});

export const importKey = booksOperation({
  id: 'keys.import',
  method: 'POST',
  path: '/keys/import',
  summary: 'Makes an API key that the secret of another gateway opens, and its user if there is none of that name',
  access: 'limits:write',
  status: 201,
  body: request({
    user: name,
    name,
    secret: Type.Optional(
      Type.String({
        minLength: chosenSecretCharactersMin,
        maxLength: secretCharactersMax,
        pattern: '^[\\x21-\\x7e]+$',
        description: 'The secret itself, or else its digest.',
      }),
    ),
    sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 digest of the secret, in hexadecimal.' })),
    ends_in: Type.Optional(
      Type.String({ maxLength: 4, pattern: '^[\\x21-\\x7e]*$', description: 'The last characters of a secret whose digest is given.' }),
    ),
    limits: Type.Optional(limitsChangeSchema),
    tags: options.tags,
  }),
  reply: keySchema,
  handle: async ({ body }, context: Context) => {
    const { services, principal, change } = context;
    if (!maySee(principal.users, body.user.normalize('NFC'))) throw notFound('user of this name');
    if ((body.secret === undefined) === (body.sha256 === undefined))
      throw new AdminProblem('invalid_request', 'Give exactly one of the fields secret and sha256.');
    const imported = await services.accountsBy(change()).importApiKey({
      userName: body.user,
      name: body.name,
      secret: body.secret ?? { sha256: body.sha256 ?? '', hint: body.ends_in ?? '' },
      limits: limitsOf(principal, body.limits),
      ...(body.tags !== undefined && { tags: tagsOf(body.tags) }),
    });
    return { ...(await find(context, imported.id)), location: `/keys/${imported.id}` };
  },
});

/** The limits in a request. Somebody who may not set limits makes keys without limits of their own. */
function limitsOf(principal: Context['principal'], written: Static<typeof limitsChangeSchema> | undefined): AccessLimitsChange {
  if (written === undefined) return {};
  if (!principal.permissions.has('limits:write')) throw permissionProblem(principal, 'limits:write', 'Limits need');
  return decodeLimitsChange(written);
}

export const updateKey = booksOperation({
  id: 'keys.update',
  method: 'PATCH',
  path: '/keys/{id}',
  summary: 'Changes an API key; takes effect within about a second',
  access: 'keys:write',
  subject,
  params: idParams,
  body: request({ disabled: Type.Optional(Type.Boolean()), ...options }),
  reply: keySchema,
  handle: async ({ params, body }, context: Context) => {
    const { services, principal, change, nowMs } = context;
    await find(context, params.id);
    const edit = {
      ...(body.disabled !== undefined && { disabledAtMs: body.disabled ? nowMs() : null }),
      ...(body.strict_translation !== undefined && { strictTranslation: body.strict_translation }),
      ...(body.response_retention_days !== undefined && { responseRetentionDays: body.response_retention_days }),
      ...(body.disconnect !== undefined && { disconnectPolicy: body.disconnect }),
      ...(body.content !== undefined && { content: body.content }),
      limits: limitsOf(principal, body.limits),
      ...(body.tags !== undefined && { tags: tagsOf(body.tags) }),
    };
    if (!(await services.accounts.editApiKey(params.id, edit, change()))) throw notFound('key of this id');
    return await find(context, params.id);
  },
});

export const deleteKey = operation({
  id: 'keys.delete',
  method: 'DELETE',
  path: '/keys/{id}',
  summary: 'Ends a key for good; its usage stays in the books',
  access: 'keys:write',
  status: 204,
  subject,
  params: idParams,
  handle: async ({ params }, context: Context): Promise<Answer<undefined>> => {
    await find(context, params.id);
    if (!(await context.services.accounts.deleteApiKey(params.id, context.change()))) throw notFound('key of this id');
    return { body: undefined };
  },
});

export const rotateKey = booksOperation({
  id: 'keys.rotate',
  method: 'POST',
  path: '/keys/{id}/rotate',
  summary: 'Gives a key a new secret, shown once; the old one works for the overlap',
  access: 'keys:write',
  params: idParams,
  body: request({
    overlap_s: Type.Integer({ minimum: 0, maximum: overlapMsMax / 1000, description: 'Seconds for which both secrets work.' }),
  }),
  reply: createdSchema,
  handle: async ({ params, body }, context: Context) => {
    await find(context, params.id);
    const rotated = await context.services.accountsBy(context.change()).rotateApiKey(params.id, body.overlap_s * 1000);
    if (rotated === undefined) throw notFound('key of this id');
    const { body: key, version = 0 } = await find(context, params.id);
    return { body: { ...key, secret: rotated.secret }, version };
  },
});

const changeKeys = operation({
  id: 'keys.batch',
  method: 'POST',
  path: '/keys/batch',
  summary: 'Changes many keys, each with its own result',
  access: 'keys:write',
  body: request({
    ids: Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: bulkKeysMax }),
    disabled: Type.Optional(Type.Boolean()),
    limits: Type.Optional(limitsChangeSchema),
  }),
  reply: record({
    results: Type.Array(record({ id: Type.String(), outcome: Type.Enum(['changed', 'not_found', 'failed']) })),
  }),
  handle: async ({ body }, { services, principal, change }: Context) => {
    const { ids, disabled, limits } = body;
    if ((disabled === undefined) === (limits === undefined))
      throw new AdminProblem('invalid_request', 'Give exactly one of the fields disabled and limits.');
    const action =
      limits === undefined
        ? { action: disabled === true ? ('disable' as const) : ('enable' as const) }
        : { action: 'limit' as const, limits: limitsOf(principal, limits) };
    const results = await services.accountsBy(change()).changeApiKeys({ users: principal.users, keyIds: ids, ...action });
    return { body: { results: results.map(({ keyId, outcome }) => ({ id: keyId, outcome })) } };
  },
});

export const keyOperations: readonly Operation<KeyServices>[] = [
  listKeys,
  createKey,
  importKey,
  changeKeys,
  getKey,
  updateKey,
  deleteKey,
  rotateKey,
];
