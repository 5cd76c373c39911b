import type { CallEntry, CallOpening } from './call-entry.ts';

/** An opening as the journal writes it, and as every entry begins. What is undefined leaves no trace in the text. */
export function encodeOpening(opening: CallOpening): string {
  return JSON.stringify({
    callId: opening.callId,
    acceptedAtMs: opening.acceptedAtMs,
    userName: opening.userName,
    keyId: opening.keyId,
    keyName: opening.keyName,
    dialect: opening.dialect,
    requestedModel: opening.requestedModel,
    upstream: opening.upstream,
    vendor: opening.vendor,
    upstreamModel: opening.upstreamModel,
    stream: opening.stream,
    inputCharacters: opening.inputCharacters,
    priceVersion: opening.priceVersion,
    translation: opening.translation,
  } satisfies Record<keyof CallOpening, unknown>);
}

/**
 * An entry as the journal writes it: JSON, the amount as a decimal string because JSON numbers are floats.
 * @param opening the entry's opening as encodeOpening wrote it, where that is at hand: it is not encoded a second time
 */
export function encodeEntry(entry: CallEntry, opening: string = encodeOpening(entry)): string {
  const { charge } = entry;
  const closing = JSON.stringify({
    end: entry.end,
    upstreamStatus: entry.upstreamStatus,
    upstreamRequestId: entry.upstreamRequestId,
    servedModel: entry.servedModel,
    replyId: entry.replyId,
    stopReason: entry.stopReason,
    serviceTier: entry.serviceTier,
    errorCode: entry.errorCode,
    replyNotes: entry.replyNotes,
    usage: entry.usage,
    rawUsage: entry.rawUsage,
    estimated: entry.estimated,
    durationMs: entry.durationMs,
    firstByteMs: entry.firstByteMs,
    charge: { amountNanoUsd: charge.amountNanoUsd.toString(), lines: charge.lines, priceId: charge.priceId },
  } satisfies Record<Exclude<keyof CallEntry, keyof CallOpening>, unknown>);
  return `${opening.slice(0, -1)},${closing.slice(1)}`;
}

/** An entry as it comes out of a parser. */
type WrittenEntry = CallEntry & { readonly charge: { amountNanoUsd: unknown } };

/**
 * Reads an entry back; the parsed value becomes the entry. The record's checksum vouches for its content, so only what the type system cannot carry
 * is checked.
 */
export function decodeEntry(value: unknown): CallEntry {
  const written = value as WrittenEntry;
  const amount: unknown = written.charge?.amountNanoUsd;
  if (typeof written.callId !== 'string' || typeof amount !== 'string' || !/^-?[0-9]{1,30}$/.test(amount)) {
    throw new Error('The text holds no ledger entry.');
  }
  written.charge.amountNanoUsd = BigInt(amount);
  return written;
}
