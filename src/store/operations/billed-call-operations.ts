import type { BilledCall, BilledCallPage, BilledCallStore } from '../../billing/statistics/billed-call.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import { decodeCallEntry } from './call-entry-row.ts';
import { selectCalls } from './call-shapes.ts';
import type { Database } from './database.ts';
import { isInPage } from './page-of-calls.ts';
import type { SqlRow, SqlValue } from './sql-values.ts';
import { readBigInt, readInteger, readText } from './read-column.ts';

/** The highest `limit` of a page. */
const pageRowsMax = 10_000;
const dayMs = 86_400_000;

/** The SQL of the calls behind the statistics. */
export function createBilledCallOperations(database: Database): BilledCallStore {
  return {
    listBilledCalls: (page) => listBilledCalls(database, page),
    listPriceVersions: async ({ startMs, endMs, userName }) => {
      const ofUser = userName === undefined ? '' : 'and user_name = ?';
      const sql = `select distinct price_version from usage_price_versions where day >= ? and day <= ? ${ofUser} order by price_version`;
      const days = [Math.floor(startMs / dayMs), Math.floor((endMs - 1) / dayMs)];
      const rows = await database.all(sql, ...days, ...(userName === undefined ? [] : [toStorableText(userName)]));
      return rows.map((row) => readText(row, 'price_version'));
    },
  };
}

async function listBilledCalls(database: Database, page: BilledCallPage): Promise<readonly BilledCall[]> {
  if (!Number.isInteger(page.limit) || page.limit < 1 || page.limit > pageRowsMax) {
    throw new StoreError('constraint', `The limit of a page must be from 1 to ${pageRowsMax}; got ${page.limit}.`);
  }
  const inPage = isInPage(page);
  const conditions = [inPage.sql, 'billed in (1, 2)'];
  const parameters: SqlValue[] = [...inPage.parameters];
  for (const [column, value] of [
    ['user_name', page.userName],
    ['key_name', page.tokenName],
    ['requested_model', page.modelName],
  ] as const) {
    if (value === undefined) continue;
    conditions.push(`${column} = ?`);
    parameters.push(toStorableText(value));
  }
  const sql = `${selectCalls} where ${conditions.join(' and ')} order by accepted_at_ms, call_id limit ?`;
  return (await database.all(sql, ...parameters, page.limit)).map(decodeBilledCall);
}

function decodeBilledCall(row: SqlRow): BilledCall {
  const { estimated, end, priceVersion } = decodeCallEntry(row);
  return {
    callId: readText(row, 'call_id'),
    acceptedAtMs: readInteger(row, 'accepted_at_ms'),
    userName: readText(row, 'user_name'),
    tokenName: readText(row, 'key_name'),
    modelName: readText(row, 'requested_model'),
    promptTokens: readInteger(row, 'prompt_tokens'),
    completionTokens: readInteger(row, 'completion_tokens'),
    cacheTokens: readInteger(row, 'cache_tokens'),
    cacheCreationTokens: readInteger(row, 'cache_creation_tokens'),
    useTimeMs: readInteger(row, 'use_time_ms'),
    callCount: readInteger(row, 'billed') === 1 ? 1 : 0,
    amountNanoUsd: readBigInt(row, 'amount_nano_usd'),
    estimated,
    end,
    priceVersion,
  };
}
