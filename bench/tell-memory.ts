import { renameSync, writeFileSync } from 'node:fs';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded before a program, with the path of a file as its query: at SIGUSR2 the program collects its garbage and writes
 * its memory to the file, with the bytes that V8 has allocated so far.
 */
const file = decodeURIComponent(new URL(import.meta.url).search.slice(1));
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function tell(): void {
  // The declared type does not have it yet.
  const { total_allocated_bytes: allocated } = getHeapStatistics() as unknown as { readonly total_allocated_bytes: number };
  for (let times = 0; times < 4; times += 1) collect();
  writeFileSync(`${file}.new`, JSON.stringify({ ...process.memoryUsage(), allocated }));
  renameSync(`${file}.new`, file);
}

if (isMainThread) process.on('SIGUSR2', tell);
