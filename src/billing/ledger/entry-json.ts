import type { CallEntry } from './call-entry.ts';

/** An entry as the journal writes it: JSON, the amount as a decimal string because JSON numbers are floats. */
export function encodeEntry(entry: CallEntry): string {
  return JSON.stringify({ ...entry, charge: { ...entry.charge, amountNanoUsd: entry.charge.amountNanoUsd.toString() } });
}

/** Reads an entry back. The record's checksum vouches for its content, so only what the type system cannot carry is checked. */
export function decodeEntry(value: unknown): CallEntry {
  const written = value as CallEntry & { readonly charge: { readonly amountNanoUsd: unknown } };
  const amount: unknown = written.charge?.amountNanoUsd;
  if (typeof written.callId !== 'string' || typeof amount !== 'string' || !/^-?[0-9]{1,30}$/.test(amount)) {
    throw new Error('The text holds no ledger entry.');
  }
  return { ...written, charge: { ...written.charge, amountNanoUsd: BigInt(amount) } };
}

/** Reads an entry that was encoded and kept as UTF-8. */
export function decodeEncodedEntry(bytes: Uint8Array): CallEntry {
  return decodeEntry(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()));
}
