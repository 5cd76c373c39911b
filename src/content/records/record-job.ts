import { createMasker, type MaskText } from '../masking/mask-text.ts';
import type { OwnPattern } from '../masking/own-patterns.ts';
import { makeRecord } from './content-record.ts';
import type { RecordedCall } from './recorded-call.ts';

export type RecordOrder = { readonly call: RecordedCall; readonly patterns: readonly OwnPattern[] };

/** Compiling patterns takes longer than most records. */
let compiled: { readonly of: string; readonly mask: MaskText } | undefined;

/** Makes the record of a call, as a line of JSON. Runs in a thread. */
export function run({ call, patterns }: RecordOrder): Uint8Array {
  const key = JSON.stringify(patterns);
  if (compiled?.of !== key) compiled = { of: key, mask: createMasker(patterns) };
  return Buffer.from(`${JSON.stringify(makeRecord(call, compiled.mask))}\n`);
}
