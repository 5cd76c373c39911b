import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { encodeInPieces } from '../../billing/ledger/entry-json.ts';
import { encodeForLedger, toLedgerBytes } from '../../billing/ledger/ledger-form.ts';
import { StoreError } from '../store-error.ts';
import type { EncodedBatch } from '../worker/store-protocol.ts';

/** Encodes an entry. Throws StoreError `entry-out-of-range` if it has no JSON form. */
export function encodeForStore(entry: CallEntry): Uint8Array {
  try {
    return toLedgerBytes(encodeForLedger(entry, encodeInPieces(entry)));
  } catch (cause) {
    const message = `Entry ${entry.callId} cannot be booked: it has no JSON form.`;
    throw new StoreError('entry-out-of-range', message, { callIds: [entry.callId], cause });
  }
}

/** Joins encoded entries in a buffer of their own, so that nothing else is sent with them. */
export function joinEncoded(entries: readonly Uint8Array[]): EncodedBatch {
  const lengths = entries.map((entry) => entry.length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const entry of entries) {
    bytes.set(entry, at);
    at += entry.length;
  }
  return { bytes, lengths };
}

/** An entry of a batch: its summary, which may be empty, and its text in UTF-8, which is part of the batch's buffer. */
export type SplitEntry = { readonly summary: string; readonly text: Buffer };

/** The entries of a batch, in order. */
export function splitEncoded({ bytes, lengths }: EncodedBatch): readonly SplitEntry[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  return lengths.map((length) => {
    const lineEnd = buffer.indexOf(LF, at);
    const summary = buffer.toString('utf8', at, lineEnd);
    return { summary, text: buffer.subarray(lineEnd + 1, (at += length)) };
  });
}

const LF = 0x0a;
