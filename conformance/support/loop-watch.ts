import { join } from 'node:path';

import type { RunningWeir } from './start-weir.ts';

/** Arguments of node for a Weir whose event loop is to be watched. */
export const watchedNodeArguments: readonly string[] = ['--import', join(import.meta.dirname, 'watch-loop.ts')];

export type LoopReading = {
  /** The longest block of the event loop since the last reading, in milliseconds. */
  readonly longestMs: number;
  /**
   * The longest processor time between two turns of the event loop since the last reading, in milliseconds. Other
   * programs do not affect it.
   */
  readonly busiestMs: number;
  /** Of the intervals between the turns that it scheduled. */
  readonly p99Ms: number;
  readonly memory: { readonly rss: number; readonly heapUsed: number; readonly external: number; readonly arrayBuffers: number };
};

/** Reads the values of a watched Weir, and resets them. */
export async function readLoop(weir: RunningWeir): Promise<LoopReading> {
  const address = /^loop watch (\S+)$/m.exec(weir.output())?.[1];
  if (address === undefined) throw new Error('this Weir is not watched');
  return (await (await fetch(address)).json()) as LoopReading;
}
