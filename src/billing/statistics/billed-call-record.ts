import type { BilledCall, BilledCallFilter, BilledCallStore } from './billed-call.ts';
import { type ExactNumber, exactNumber } from './exact-number.ts';
import { zonedTime } from './format-bucket-time.ts';
import { usdDecimal } from './usd-decimal.ts';

/** One line of the detail: a call, or a part of one. */
export type BilledCallRecord = Omit<BilledCall, 'callId' | 'acceptedAtMs' | 'amountNanoUsd'> & {
  readonly requestId: string;
  /** The time of acceptance in the time zone of the statistics: `YYYY-MM-DD HH:MM:SS`. */
  readonly time: string;
  /** The same in Unix milliseconds. */
  readonly timeMs: number;
  /** USD with at most nine decimals. */
  readonly amount: ExactNumber;
};

/** Large enough that queries cost little, small enough that a page needs little memory. */
const PAGE_ROWS = 2000;

/**
 * The rows of a filter, page by page as they are consumed. Rejects with the store's error, and with the reason of the
 * signal.
 * @param signal ends the reading between two pages
 */
export async function* readBilledCalls(
  store: Pick<BilledCallStore, 'listBilledCalls'>,
  filter: BilledCallFilter,
  timeZone: string,
  signal: AbortSignal,
): AsyncGenerator<readonly BilledCallRecord[]> {
  const timeOf = createTimeFormat(timeZone);
  let after: BilledCall | undefined;
  for (;;) {
    signal.throwIfAborted();
    const page: readonly BilledCall[] = await store.listBilledCalls({
      ...filter,
      ...(after === undefined ? {} : { after: { acceptedAtMs: after.acceptedAtMs, callId: after.callId } }),
      limit: PAGE_ROWS,
    });
    if (page.length > 0) yield page.map((call) => encodeCall(call, timeOf(call.acceptedAtMs)));
    after = page.at(-1);
    if (after === undefined || page.length < PAGE_ROWS) return;
  }
}

function encodeCall(call: BilledCall, time: string): BilledCallRecord {
  return {
    requestId: call.callId,
    time,
    timeMs: call.acceptedAtMs,
    userName: call.userName,
    tokenName: call.tokenName,
    modelName: call.modelName,
    promptTokens: call.promptTokens,
    completionTokens: call.completionTokens,
    cacheTokens: call.cacheTokens,
    cacheCreationTokens: call.cacheCreationTokens,
    useTimeMs: call.useTimeMs,
    callCount: call.callCount,
    amount: exactNumber(usdDecimal(call.amountNanoUsd)),
    estimated: call.estimated,
    end: call.end,
    priceVersion: call.priceVersion,
  };
}

/**
 * Formats moments that are mostly in order: the calendar is used once per minute, because no zone changes its offset
 * within a minute.
 */
function createTimeFormat(timeZone: string): (ms: number) => string {
  let minute = Number.NaN;
  let offsetMs = 0;
  return (ms) => {
    if (Math.floor(ms / 60_000) !== minute) {
      minute = Math.floor(ms / 60_000);
      offsetMs = zonedTime(minute * 60, timeZone).offsetNanoseconds / 1e6;
    }
    return new Date(ms + offsetMs).toISOString().slice(0, 19).replace('T', ' ');
  };
}
