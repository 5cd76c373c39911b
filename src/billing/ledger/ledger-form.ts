import { type Billing, billingOf, type CallEntry, isUnpriced, statisticsCounts } from './call-entry.ts';
import { decodeEntry } from './entry-json.ts';

/**
 * What a store searches for and sums up of an entry, so that it need not read the entry itself: names as they are, whole numbers that are exact as
 * such, the amount in nano-USD.
 */
export type EntrySummary = readonly [
  callId: string,
  acceptedAtMs: number,
  userName: string,
  keyName: string,
  requestedModel: string,
  amountNanoUsd: number,
  billed: Billing,
  promptTokens: number,
  completionTokens: number,
  cacheTokens: number,
  cacheCreationTokens: number,
  useTimeMs: number,
  replyId: string | null,
  /** Absent in what earlier versions wrote. */
  keyId?: string,
  /** Bits of the pots that its reserve came from; 0 for a row without one. */
  heldPots?: number,
  /** Of the price book that priced it. Absent in what earlier versions wrote. */
  priceVersion?: string,
  /** 1 where figures of its upstream's report cannot be true; absent where this and the next are 0. */
  disputed?: 0 | 1,
  /** 1 where it was charged 0 because nothing that it used has a price; absent where it is 0. */
  unpriced?: 1,
];

/** An entry as it is handed to the ledger store: a line with its summary, and its text after it. */
export type LedgerForm = { readonly head: string; readonly text: string };

/**
 * Puts the summary before an entry, as JSON and with a line end. An odd entry (a count that is no exact number) gets an empty line, and the store
 * looks at the entry itself.
 * @param text the entry as encodeEntry writes it
 */
export function encodeForLedger(entry: CallEntry, text: string): LedgerForm {
  const summary = summarize(entry);
  return { head: summary === undefined ? '\n' : `${JSON.stringify(summary)}\n`, text };
}

/** The bytes of what encodeForLedger made: its two texts end to end. */
export function toLedgerBytes({ head, text }: LedgerForm): Buffer {
  return Buffer.from(head + text);
}

/** The entry's text in such bytes. JSON has no line end of its own. */
export function readLedgerText(bytes: Uint8Array): string {
  return viewOf(bytes).toString('utf8', bytes.indexOf(LF) + 1);
}

/** Reads the entry out of such bytes. */
export function decodeForLedger(bytes: Uint8Array): CallEntry {
  return decodeEntry(JSON.parse(readLedgerText(bytes)));
}

const LF = 0x0a;

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

type Marks = readonly [] | readonly [disputed: 1] | readonly [disputed: 0 | 1, unpriced: 1];
const noMark: Marks = [];
const disputedMark: Marks = [1];

function marksOf(entry: CallEntry): Marks {
  const disputed = entry.disputed === undefined ? 0 : 1;
  if (isUnpriced(entry)) return [disputed, 1];
  return disputed === 1 ? disputedMark : noMark;
}

function summarize(entry: CallEntry): EntrySummary | undefined {
  const { usage, charge } = entry;
  for (const name in usage) if (!Number.isSafeInteger(usage[name as keyof typeof usage])) return undefined;
  const { promptTokens, completionTokens, cacheTokens, cacheCreationTokens } = statisticsCounts(usage);
  const amountNanoUsd = Number(charge.amountNanoUsd);
  const useTimeMs = Math.round(entry.durationMs);
  const isExact =
    Number.isSafeInteger(amountNanoUsd) &&
    Number.isSafeInteger(promptTokens) &&
    Number.isSafeInteger(entry.acceptedAtMs) &&
    Number.isSafeInteger(useTimeMs);
  if (!isExact) return undefined;
  return [
    entry.callId,
    entry.acceptedAtMs,
    entry.userName,
    entry.keyName,
    entry.requestedModel,
    amountNanoUsd,
    billingOf(entry),
    promptTokens,
    completionTokens,
    cacheTokens,
    cacheCreationTokens,
    useTimeMs,
    entry.replyId ?? null,
    entry.keyId,
    entry.heldPots ?? 0,
    entry.priceVersion,
    ...marksOf(entry),
  ];
}
