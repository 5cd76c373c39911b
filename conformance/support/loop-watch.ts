import { join } from 'node:path';

import type { RunningWeir } from './start-weir.ts';

/** Arguments of node for a Weir whose event loop is to be watched. */
export const watchedNodeArguments: readonly string[] = ['--import', join(import.meta.dirname, 'watch-loop.ts')];

export type LoopReading = {
  /** The longest time that the event loop was held up since the last reading, in milliseconds. */
  readonly longestMs: number;
  /** The most that was worked between two turns since the last reading, in milliseconds of the processor. Other programs add nothing to it. */
  readonly busiestMs: number;
  /** Of the times between two turns that it asked for. */
  readonly p99Ms: number;
  readonly memory: { readonly rss: number; readonly heapUsed: number; readonly external: number; readonly arrayBuffers: number };
};

/** Asks a watched Weir, and begins anew. */
export async function readLoop(weir: RunningWeir): Promise<LoopReading> {
  const address = /^loop watch (\S+)$/m.exec(weir.output())?.[1];
  if (address === undefined) throw new Error('this Weir is not watched');
  return (await (await fetch(address)).json()) as LoopReading;
}
