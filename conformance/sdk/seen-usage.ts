import assert from 'node:assert/strict';

import { eventually, post } from '../support/http.ts';
import type { ServedWeir } from '../support/start-weir.ts';

/** Tokens as the statistics count them: `input` is all input, and the two cache counts are parts of it. */
type SeenTokens = { readonly input: number; readonly output: number; readonly cacheRead?: number; readonly cacheWrite?: number };

export type Totals = { calls: number; input: number; output: number; cacheRead: number; cacheWrite: number };

/** The usage that the SDKs of a suite received, by requested model, to be compared with the books. */
export type SeenUsage = {
  readonly add: (model: string, tokens: SeenTokens) => void;
  readonly totals: () => Readonly<Record<string, Totals>>;
};

export function createSeenUsage(): SeenUsage {
  const byModel: Record<string, Totals> = {};
  return {
    add: (model, { input, output, cacheRead = 0, cacheWrite = 0 }) => {
      const totals = (byModel[model] ??= { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
      totals.calls += 1;
      totals.input += input;
      totals.output += output;
      totals.cacheRead += cacheRead;
      totals.cacheWrite += cacheWrite;
    },
    totals: () => byModel,
  };
}

const hourSeconds = 3600;

/** The statistics of the last hours, summed by model. */
export async function readBooks(weir: ServedWeir): Promise<Readonly<Record<string, Totals>>> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const question = { type: 1, startTime: nowSeconds - hourSeconds, endTime: nowSeconds + hourSeconds };
  const answer = await post(`${weir.monitorUrl}/bill/stats`, question, { token: weir.billingToken });
  assert.equal(answer.status, 200, answer.text);
  const byModel: Record<string, Totals> = {};
  for (const record of answer.json.data) {
    const totals = (byModel[record.modelName] ??= { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
    totals.calls += record.callCount;
    totals.input += record.totalPromptTokens;
    totals.output += record.totalCompletionTokens;
    totals.cacheRead += record.totalCacheTokens;
    totals.cacheWrite += record.totalCacheCreationTokens;
  }
  return byModel;
}

/**
 * Compares the usage of the SDKs with the statistics: the same calls and the same tokens for every model, once all are
 * booked.
 * @param elsewhere models whose calls other tests check, such as those of a client that disconnected
 */
export async function assertBooksAgree(weir: ServedWeir, seen: SeenUsage, elsewhere: readonly string[] = []): Promise<void> {
  const withoutOthers = async (): Promise<Readonly<Record<string, Totals>>> =>
    Object.fromEntries(Object.entries(await readBooks(weir)).filter(([model]) => !elsewhere.includes(model)));
  const expected = seen.totals();
  // A call may have several rows, each with tokens of its own, so the number of calls does not show that all rows
  // exist.
  const countAll = (books: Readonly<Record<string, Totals>>): number =>
    Object.values(books).reduce((sum, { calls, input, output }) => sum + calls + input + output, 0);
  const books = await eventually(withoutOthers, (found) => countAll(found) >= countAll(expected)).catch(withoutOthers);
  assert.deepEqual(sorted(books), sorted(expected), "the books match the SDKs' usage");
}

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
