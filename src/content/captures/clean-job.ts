import { cleanWires } from './clean-wires.ts';
import type { RawWires } from './wires.ts';

/** Removes credentials from wires, as JSON. Runs in a thread. */
export function run({ wires, credentials }: { readonly wires: RawWires; readonly credentials: readonly string[] }): Uint8Array {
  return Buffer.from(JSON.stringify(cleanWires(wires, credentials)));
}
