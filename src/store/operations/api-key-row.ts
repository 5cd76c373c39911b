import type { StoredApiKey } from '../../accounts/api-key.ts';
import { type CallTags, isCallTags } from '../../accounts/call-tags.ts';
import { type ContentMode, isContentMode } from '../../accounts/content-mode.ts';
import { isDisconnectPolicy, type KeyDisconnectPolicy } from '../../accounts/disconnect-policy.ts';
import type { Change } from '../../audit/change-author.ts';
import { StoreError } from '../store-error.ts';
import { appendDifference } from './audit-operations.ts';
import type { Database } from './database.ts';
import { decodeLimits } from './decode-limits.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';

/** The keys that are not deleted. Conditions can follow. */
export const selectKeys = `select api_keys.id as id, users.id as user_id, users.name as user_name, api_keys.name as name, api_keys.hash as hash,
    api_keys.hint as hint, api_keys.created_at_ms as created_at_ms, api_keys.disabled_at_ms as disabled_at_ms, api_keys.strict_translation as strict_translation,
    api_keys.response_retention_days as response_retention_days, api_keys.disconnect_policy as disconnect_policy,
    api_keys.limits as limits, users.limits as user_limits, api_keys.tags as tags, api_keys.content as content, teams.content as team_content, teams.id as team_id, teams.name as team_name,
    teams.limits as team_limits, organization.limits as organization_limits,
    api_keys.previous_hash as previous_hash, api_keys.previous_until_ms as previous_until_ms
  from api_keys join users on users.id = api_keys.user_id left join teams on teams.id = users.team_id
    left join organization on organization.id = 1
  where api_keys.deleted_at_ms is null`;

export function decodeApiKey(row: SqlRow): StoredApiKey {
  const disabledAtMs = readOptionalInteger(row, 'disabled_at_ms');
  const responseRetentionDays = readOptionalInteger(row, 'response_retention_days');
  const disconnectPolicy = decodePolicy(row);
  const limits = decodeLimits(row, 'limits');
  const previousHash = readOptionalText(row, 'previous_hash');
  const previousOpensUntilMs = readOptionalInteger(row, 'previous_until_ms');
  const userLimits = decodeLimits(row, 'user_limits');
  const team = decodeKeyTeam(row);
  const organizationLimits = decodeLimits(row, 'organization_limits');
  const tags = decodeTags(row);
  const content = decodeContentMode(row, 'content');
  return {
    id: readText(row, 'id'),
    userId: readText(row, 'user_id'),
    userName: readText(row, 'user_name'),
    name: readText(row, 'name'),
    hint: readText(row, 'hint'),
    ...issuerOf(readText(row, 'hash')),
    createdAtMs: readInteger(row, 'created_at_ms'),
    ...(disabledAtMs === undefined ? {} : { disabledAtMs }),
    strictTranslation: readInteger(row, 'strict_translation') !== 0,
    ...(responseRetentionDays === undefined ? {} : { responseRetentionDays }),
    ...(disconnectPolicy === undefined ? {} : { disconnectPolicy }),
    ...(limits === undefined ? {} : { limits }),
    ...(userLimits === undefined ? {} : { userLimits }),
    ...(team === undefined ? {} : { team }),
    ...(organizationLimits === undefined ? {} : { organizationLimits }),
    ...(tags === undefined ? {} : { tags }),
    ...(content === undefined ? {} : { content }),
    ...(previousOpensUntilMs === undefined ? {} : { previousOpensUntilMs }),
    hash: readText(row, 'hash'),
    ...(previousHash === undefined ? {} : { previousHash }),
  };
}

export function encodeTags(tags: CallTags | undefined): string | null {
  return tags === undefined || Object.keys(tags).length === 0 ? null : JSON.stringify(tags);
}

function decodeTags(row: SqlRow): CallTags | undefined {
  const text = readOptionalText(row, 'tags');
  if (text === undefined) return undefined;
  const tags: unknown = JSON.parse(text);
  if (!isCallTags(tags)) throw new StoreError('corrupt', 'Column tags is not a valid set of tags.');
  return tags;
}

/** The team of a key's owner, as the gateway needs it. */
function decodeKeyTeam(row: SqlRow): StoredApiKey['team'] {
  const id = readOptionalText(row, 'team_id');
  if (id === undefined) return undefined;
  const limits = decodeLimits(row, 'team_limits');
  const content = decodeContentMode(row, 'team_content');
  return {
    id,
    name: readText(row, 'team_name'),
    ...(limits === undefined ? {} : { limits }),
    ...(content === undefined ? {} : { content }),
  };
}

export function decodeContentMode(row: SqlRow, column: string): ContentMode | undefined {
  const word = readOptionalText(row, column);
  if (word === undefined || isContentMode(word)) return word;
  throw new StoreError('corrupt', `Column ${column} is not a known mode of content.`);
}

/** A key of an issuer's tokens has `jwt:<issuer>:<digest>` in the place of a secret's hash, which has no colon. */
function issuerOf(hash: string): { readonly issuer?: string } {
  const [kind, issuer] = hash.split(':', 2);
  return kind === 'jwt' && issuer !== undefined ? { issuer } : {};
}

function decodePolicy(row: SqlRow): KeyDisconnectPolicy | undefined {
  const word = readOptionalText(row, 'disconnect_policy');
  if (word === undefined || isDisconnectPolicy(word)) return word;
  throw new StoreError('corrupt', 'Column disconnect_policy is not a known policy.');
}

/** A change and its name in the audit log. */
type Audited = { readonly change: Change; readonly action: string };
type Work = (transaction: Database) => Promise<number>;

/** Sets one column of a key that is not deleted. */
export function setColumn(column: string, keyId: string, value: SqlParameter): Work {
  return (transaction) => transaction.run(`update api_keys set ${column} = ? where id = ? and deleted_at_ms is null`, value, keyId);
}

/**
 * Changes one key, and in the same transaction increments the version of the keys and appends to the audit log. False
 * if `work` changed no row.
 */
export async function changeKey(database: Database, keyId: string, audited: Audited, work: Work): Promise<boolean> {
  return await database.transact(async (transaction) => {
    const before = await describeKey(transaction, keyId);
    if ((await work(transaction)) === 0) return false;
    await newKeysVersion(transaction);
    await appendDifference(transaction, audited, `key:${keyId}`, { before, after: await describeKey(transaction, keyId) });
    return true;
  });
}

/** Increments the number by which processes notice that keys have changed. */
export async function newKeysVersion(transaction: Database): Promise<void> {
  await transaction.run("update counters set value = value + 1 where name = 'keys_version'");
}

/** A key as the audit log shows it: without the hashes of its secrets. */
async function describeKey(transaction: Database, keyId: string): Promise<string | undefined> {
  const row = await transaction.first(`${selectKeys} and api_keys.id = ?`, keyId);
  if (row === undefined) return undefined;
  const { hash: _hash, previousHash: _previous, userLimits: _user, team: _team, organizationLimits: _all, ...key } = decodeApiKey(row);
  return JSON.stringify(key);
}
