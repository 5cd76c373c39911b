import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

/** What part of the memory that it may use the process uses, 0 to 1. */
export type MemoryGauge = () => number;

/**
 * The larger of two shares: of the memory that the container or the machine has, and of the heap that V8 allows itself. Reading takes 10 µs.
 */
export function createMemoryGauge(): MemoryGauge {
  // Without a limit the system says 0 or a number beyond all memory.
  const constrained = process.constrainedMemory();
  const limit = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return () => {
    const { used_heap_size: usedHeap, heap_size_limit: heapLimit } = getHeapStatistics();
    return Math.max(process.memoryUsage.rss() / limit, usedHeap / heapLimit);
  };
}
