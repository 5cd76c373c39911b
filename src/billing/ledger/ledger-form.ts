import { type Billing, billingOf, type CallEntry, isUnpriced, statisticsCounts } from './call-entry.ts';
import type { GroupPayer } from '../credits/pots.ts';
import { decodeEntry } from './entry-json.ts';

/**
 * The members of an entry that a store searches for and adds up, so that it need not parse the entry: names unchanged,
 * exact integers as numbers, the amount in nano-USD.
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
  /** Absent in entries of earlier versions. */
  keyId?: string,
  /** Bits of the pots of its hold; 0 without one. */
  heldPots?: number,
  /** The version of the price book that priced it. Absent in entries of earlier versions. */
  priceVersion?: string,
  /** 1 if the upstream reported impossible figures; absent if this and the next are 0. */
  disputed?: 0 | 1,
  /** 1 if it cost 0 because nothing in its usage has a price; absent if this and the next are 0. */
  unpriced?: 0 | 1,
  /** The team of its user; absent without one. */
  teamId?: string | null,
  /** The level that pays, if it is not the user. */
  payer?: GroupPayer,
];

/** An entry in the form for the ledger store, in pieces: a line with its summary, followed by its text. */
export type LedgerForm = readonly [summary: string, ...lineEndAndText: readonly string[]];

/**
 * Puts the summary before an entry, as JSON and with a line end. An entry with a count that is not an exact number gets
 * an empty line, and the store parses the entry itself.
 * @param text the entry as encodeInPieces writes it
 */
export function encodeForLedger(entry: CallEntry, text: readonly string[]): LedgerForm {
  const summary = summarize(entry);
  return [summary === undefined ? '' : JSON.stringify(summary), '\n', ...text];
}

/** The bytes of the result of encodeForLedger. */
export function toLedgerBytes(form: LedgerForm): Buffer {
  return Buffer.from(form.join(''));
}

/** The entry's text in such bytes. JSON text contains no line end. */
export function readLedgerText(bytes: Uint8Array): string {
  return viewOf(bytes).toString('utf8', bytes.indexOf(LF) + 1);
}

/** Decodes the entry in such bytes. */
export function decodeForLedger(bytes: Uint8Array): CallEntry {
  return decodeEntry(JSON.parse(readLedgerText(bytes)));
}

const LF = 0x0a;

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

type Marks =
  | readonly []
  | readonly [disputed: 1]
  | readonly [disputed: 0 | 1, unpriced: 1]
  | readonly [disputed: 0 | 1, unpriced: 0 | 1, teamId: string | null, payer?: GroupPayer];
const noMark: Marks = [];
const disputedMark: Marks = [1];

function marksOf(entry: CallEntry): Marks {
  const disputed = entry.disputed === undefined ? 0 : 1;
  const { team, payer } = entry;
  if (team !== undefined || payer !== undefined) {
    const unpriced = isUnpriced(entry) ? 1 : 0;
    return payer === undefined ? [disputed, unpriced, team?.id ?? null] : [disputed, unpriced, team?.id ?? null, payer];
  }
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
