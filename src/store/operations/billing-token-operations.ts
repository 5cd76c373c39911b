import type { BillingToken } from '../../accounts/api-key.ts';
import type { BillingTokenStore } from '../../accounts/billing-token-store.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';

const selectTokens = `select id, name, hash, user_name, created_at_ms, expires_at_ms, previous_until_ms, used_at_ms
  from billing_tokens left join billing_token_uses on token_id = id`;

/** The SQL of billing tokens. */
export function createBillingTokenOperations(database: Database): BillingTokenStore {
  return {
    insertBillingToken: async ({ id, name, hash, userName, createdAtMs, expiresAtMs }) => {
      const sql =
        'insert into billing_tokens (id, name, hash, user_name, created_at_ms, expires_at_ms) values (?, ?, ?, ?, ?, ?) on conflict do nothing';
      return (await database.run(sql, id, name, hash, userName ?? null, createdAtMs, expiresAtMs ?? null)) > 0;
    },
    findBillingTokenByHash: async (hash) => {
      const present = await database.first(`${selectTokens} where hash = ?`, hash);
      if (present !== undefined) return decodeToken(present);
      const previous = await database.first(`${selectTokens} where previous_hash = ?`, hash);
      return previous === undefined ? undefined : { ...decodeToken(previous), byPreviousSecret: true };
    },
    listBillingTokens: async () => (await database.all(`${selectTokens} order by created_at_ms, id`)).map(decodeToken),
    rotateBillingToken: async ({ tokenId, hash, previousOpensUntilMs }) => {
      const sql = `update billing_tokens set previous_hash = hash, previous_until_ms = ?, hash = ?
        where id = ? and not exists (select 1 from billing_tokens as others where others.hash = ?)`;
      return (await database.run(sql, previousOpensUntilMs, hash, tokenId, hash)) > 0;
    },
    noteBillingTokenUse: async ({ tokenId, usedAtMs }) => {
      const sql = `insert into billing_token_uses (token_id, used_at_ms) select id, cast(? as bigint) from billing_tokens where id = ?
        on conflict (token_id) do update set used_at_ms = ${database.fragments.greatest}(billing_token_uses.used_at_ms, excluded.used_at_ms)`;
      await database.run(sql, usedAtMs, tokenId);
    },
    deleteBillingToken: async (tokenId) =>
      await database.transact(async (transaction) => {
        await transaction.run('delete from billing_token_uses where token_id = ?', tokenId);
        return (await transaction.run('delete from billing_tokens where id = ?', tokenId)) > 0;
      }),
  };
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
