import { setImmediate } from 'node:timers/promises';
import type { BillingRecords } from '../billing/statistics/billing-record.ts';

const CHUNK_CHARACTERS = 64 * 1024;

/**
 * The answer of /bill/stats as JSON text, piece by piece while it is read. The closing bracket comes last, so an answer that broke off
 * never parses.
 */
export async function* createStatsText(records: BillingRecords): AsyncGenerator<string> {
  let text = '{"code":200,"message":"success","data":[';
  let separator = '';
  for (const record of records) {
    text += separator + JSON.stringify(record);
    separator = ',';
    if (text.length < CHUNK_CHARACTERS) continue;
    yield text;
    text = '';
    // A fast reader must not keep the event loop from everybody else while a million records are written.
    await setImmediate();
  }
  yield `${text}]}`;
}
