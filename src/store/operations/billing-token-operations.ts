import type { BillingToken } from '../../accounts/api-key.ts';
import type { BillingTokenStore } from '../../accounts/billing-token-store.ts';
import type { Change } from '../../audit/change-author.ts';
import { appendDifference } from './audit-operations.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';

const selectTokens = `select id, name, hash, user_name, created_at_ms, expires_at_ms, previous_until_ms, used_at_ms
  from billing_tokens left join billing_token_uses on token_id = id`;

/** The SQL of billing tokens. */
export function createBillingTokenOperations(database: Database): BillingTokenStore {
  return {
    insertBillingToken: ({ id, name, hash, userName, createdAtMs, expiresAtMs }, change) => {
      const sql =
        'insert into billing_tokens (id, name, hash, user_name, created_at_ms, expires_at_ms) values (?, ?, ?, ?, ?, ?) on conflict do nothing';
      return changeToken(database, id, { change, action: 'billing_tokens.create' }, (transaction) =>
        transaction.run(sql, id, name, hash, userName ?? null, createdAtMs, expiresAtMs ?? null),
      );
    },
    findBillingTokenByHash: async (hash) => {
      const present = await database.first(`${selectTokens} where hash = ?`, hash);
      if (present !== undefined) return decodeToken(present);
      const previous = await database.first(`${selectTokens} where previous_hash = ?`, hash);
      return previous === undefined ? undefined : { ...decodeToken(previous), byPreviousSecret: true };
    },
    listBillingTokens: async () => (await database.all(`${selectTokens} order by created_at_ms, id`)).map(decodeToken),
    rotateBillingToken: ({ tokenId, hash, previousOpensUntilMs }, change) => {
      const sql = `update billing_tokens set previous_hash = hash, previous_until_ms = ?, hash = ?
        where id = ? and not exists (select 1 from billing_tokens as others where others.hash = ?)`;
      return changeToken(database, tokenId, { change, action: 'billing_tokens.rotate' }, (transaction) =>
        transaction.run(sql, previousOpensUntilMs, hash, tokenId, hash),
      );
    },
    noteBillingTokenUse: async ({ tokenId, usedAtMs }) => {
      const sql = `insert into billing_token_uses (token_id, used_at_ms) select id, cast(? as bigint) from billing_tokens where id = ?
        on conflict (token_id) do update set used_at_ms = ${database.fragments.greatest}(billing_token_uses.used_at_ms, excluded.used_at_ms)`;
      await database.run(sql, usedAtMs, tokenId);
    },
    deleteBillingToken: (tokenId, change) =>
      changeToken(database, tokenId, { change, action: 'billing_tokens.delete' }, async (transaction) => {
        await transaction.run('delete from billing_token_uses where token_id = ?', tokenId);
        return await transaction.run('delete from billing_tokens where id = ?', tokenId);
      }),
  };
}

/** Changes one token and appends to the audit log in the same transaction. False if `work` changed no row. */
async function changeToken(
  database: Database,
  tokenId: string,
  audited: { readonly change: Change; readonly action: string },
  work: (transaction: Database) => Promise<number>,
): Promise<boolean> {
  return await database.transact(async (transaction) => {
    const before = await describeToken(transaction, tokenId);
    if ((await work(transaction)) === 0) return false;
    const after = await describeToken(transaction, tokenId);
    await appendDifference(transaction, audited, `billing_token:${tokenId}`, { before, after });
    return true;
  });
}

/** A token as the audit log shows it: without the hashes of its secrets and the time of its last use. */
async function describeToken(database: Database, tokenId: string): Promise<string | undefined> {
  const row = await database.first(`${selectTokens} where id = ?`, tokenId);
  if (row === undefined) return undefined;
  const { lastUsedAtMs: _lastUsedAtMs, ...token } = decodeToken(row);
  return JSON.stringify(token);
}

function decodeToken(row: SqlRow): BillingToken {
  const userName = readOptionalText(row, 'user_name');
  const expiresAtMs = readOptionalInteger(row, 'expires_at_ms');
  const previousOpensUntilMs = readOptionalInteger(row, 'previous_until_ms');
  const lastUsedAtMs = readOptionalInteger(row, 'used_at_ms');
  return {
    id: readText(row, 'id'),
    name: readText(row, 'name'),
    ...(userName === undefined ? {} : { userName }),
    createdAtMs: readInteger(row, 'created_at_ms'),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    ...(previousOpensUntilMs === undefined ? {} : { previousOpensUntilMs }),
    ...(lastUsedAtMs === undefined ? {} : { lastUsedAtMs }),
  };
}
