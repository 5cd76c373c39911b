import type { Change } from '../../audit/change-author.ts';
import type { AdminToken, FoundAdminToken } from '../../accounts/people/admin-token.ts';
import type { AdminTokenStore } from '../../accounts/people/admin-token-store.ts';
import type { Expected } from '../../accounts/people/people-store.ts';
import { isPermission, type Permission } from '../../accounts/people/permissions.ts';
import type { UserScope } from '../../accounts/people/principal.ts';
import { StoreError } from '../store-error.ts';
import { appendDifference } from './audit-operations.ts';
import type { Database } from './database.ts';
import { findPerson } from './find-person.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { SqlRow } from './sql-values.ts';

const selectTokens = `select id, name, hint, permissions, users, maker_id, created_at_ms, expires_at_ms, previous_until_ms, revision, used_at_ms
  from admin_tokens left join admin_token_uses on token_id = id`;

/** The SQL of admin tokens. */
export function createAdminTokenOperations(database: Database): AdminTokenStore {
  return {
    insertAdminToken: (token, change) => database.transact((transaction) => insertToken(transaction, token, change)),
    findAdminTokenByHash: (hash) => findByHash(database, hash),
    listAdminTokens: async () => (await database.all(`${selectTokens} order by created_at_ms, id`)).map(decodeToken),
    rotateAdminToken: ({ hash, hint, previousOpensUntilMs, ...expected }, change) =>
      database.transact(async (transaction) => {
        const before = await findExpected(transaction, expected);
        if (typeof before === 'string') return before;
        const sql = `update admin_tokens set previous_hash = hash, previous_until_ms = ?, hash = ?, hint = ?, revision = revision + 1
          where id = ?`;
        await transaction.run(sql, previousOpensUntilMs, hash, hint, before.id);
        await appendToken(transaction, { change, action: 'admin_tokens.rotate' }, before, await findToken(transaction, before.id));
        return 'rotated';
      }),
    noteAdminTokenUse: async ({ tokenId, usedAtMs }) => {
      const sql = `insert into admin_token_uses (token_id, used_at_ms) select id, cast(? as bigint) from admin_tokens where id = ?
        on conflict (token_id) do update set used_at_ms = ${database.fragments.greatest}(admin_token_uses.used_at_ms, excluded.used_at_ms)`;
      await database.run(sql, usedAtMs, tokenId);
    },
    deleteAdminToken: (expected, change) =>
      database.transact(async (transaction) => {
        const before = await findExpected(transaction, expected);
        if (typeof before === 'string') return before;
        await deleteToken(transaction, before, change);
        return 'deleted';
      }),
  };
}

/** Inserts a token, in the transaction of what makes it. False if the hash or the name exists. */
export async function insertToken(
  transaction: Database,
  { id, name, hash, hint, permissions, users, makerId, createdAtMs, expiresAtMs }: Parameters<AdminTokenStore['insertAdminToken']>[0],
  change: Change,
): Promise<boolean> {
  const sql = `insert into admin_tokens (id, name, hash, hint, permissions, users, maker_id, created_at_ms, expires_at_ms, revision)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) on conflict do nothing`;
  const scope = users === 'all' ? null : JSON.stringify(users);
  const texts = [hash, hint, JSON.stringify(permissions), scope, makerId ?? null] as const;
  if ((await transaction.run(sql, id, name, ...texts, createdAtMs, expiresAtMs)) === 0) return false;
  await appendToken(transaction, { change, action: 'admin_tokens.create' }, undefined, await findToken(transaction, id));
  return true;
}

/** Deletes the tokens that a person made, in the transaction that deletes the person. */
export async function deleteTokensOfMaker(transaction: Database, makerId: string, change: Change): Promise<void> {
  const rows = await transaction.all(`${selectTokens} where maker_id = ?`, makerId);
  for (const token of rows.map(decodeToken)) await deleteToken(transaction, token, change);
}

async function deleteToken(transaction: Database, token: AdminToken, change: Change): Promise<void> {
  await transaction.run('delete from admin_token_uses where token_id = ?', token.id);
  await transaction.run('delete from admin_tokens where id = ?', token.id);
  await appendToken(transaction, { change, action: 'admin_tokens.delete' }, token, undefined);
}

async function findByHash(database: Database, hash: string): Promise<FoundAdminToken | undefined> {
  const present = await database.first(`${selectTokens} where hash = ?`, hash);
  const row = present ?? (await database.first(`${selectTokens} where previous_hash = ?`, hash));
  if (row === undefined) return undefined;
  const token = decodeToken(row);
  const maker = token.makerId === undefined ? undefined : await findPerson(database, { id: token.makerId });
  return {
    token,
    ...(present === undefined ? { byPreviousSecret: true as const } : {}),
    ...(maker === undefined ? {} : { maker }),
  };
}

async function findToken(database: Database, tokenId: string): Promise<AdminToken | undefined> {
  const row = await database.first(`${selectTokens} where id = ?`, tokenId);
  return row === undefined ? undefined : decodeToken(row);
}

async function findExpected(transaction: Database, { id, revision }: Expected): Promise<AdminToken | 'unknown' | 'stale'> {
  const token = await findToken(transaction, id);
  if (token === undefined) return 'unknown';
  return revision === undefined || revision === token.revision ? token : 'stale';
}

async function appendToken(
  transaction: Database,
  audited: { readonly change: Change; readonly action: string },
  before: AdminToken | undefined,
  after: AdminToken | undefined,
): Promise<void> {
  const subject = `admin_token:${before?.id ?? after?.id ?? ''}`;
  await appendDifference(transaction, audited, subject, { before: describe(before), after: describe(after) });
}

/** A token as the audit log shows it: without the time of its last use. */
function describe(token: AdminToken | undefined): string | undefined {
  if (token === undefined) return undefined;
  const { lastUsedAtMs: _lastUsedAtMs, ...described } = token;
  return JSON.stringify(described);
}

function decodeToken(row: SqlRow): AdminToken {
  const makerId = readOptionalText(row, 'maker_id');
  const previousOpensUntilMs = readOptionalInteger(row, 'previous_until_ms');
  const lastUsedAtMs = readOptionalInteger(row, 'used_at_ms');
  return {
    id: readText(row, 'id'),
    name: readText(row, 'name'),
    hint: readText(row, 'hint'),
    permissions: readPermissions(row),
    users: readUsers(row),
    ...(makerId === undefined ? {} : { makerId }),
    createdAtMs: readInteger(row, 'created_at_ms'),
    expiresAtMs: readInteger(row, 'expires_at_ms'),
    ...(previousOpensUntilMs === undefined ? {} : { previousOpensUntilMs }),
    ...(lastUsedAtMs === undefined ? {} : { lastUsedAtMs }),
    revision: readInteger(row, 'revision'),
  };
}

/** A permission of a newer version, after a return to this one, is one that this version cannot give. */
export function readPermissions(row: SqlRow, column = 'permissions'): readonly Permission[] {
  return readNames(row, column).filter(isPermission);
}

export function readUsers(row: SqlRow): UserScope {
  return readOptionalText(row, 'users') === undefined ? 'all' : readNames(row, 'users');
}

function readNames(row: SqlRow, column: string): readonly string[] {
  const names: unknown = JSON.parse(readText(row, column));
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names;
  throw new StoreError('corrupt', `Column ${column} must be a JSON list of names.`);
}
