import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/**
 * The unit tests, in two processes for each processor, four at most: each runs every n-th file, all in one thread, so that what they share is loaded once per
 * process. Half of their time the tests wait, for disks, timers and programs, and meanwhile others work. The output of one follows that of another. Ends with 1
 * where a test failed.
 */
const shards = Math.min(4, 2 * availableParallelism());
const files = ['src/**/*.test.ts', 'simulator/src/**/*.test.ts', 'checks/**/*.test.ts'];

async function runShard(shard: number): Promise<{ readonly passed: boolean; readonly printed: string }> {
  const options = ['--import', './checks/property-seed.ts', '--test', '--test-isolation=none', '--test-timeout=60000'];
  const child = spawn(process.execPath, [...options, `--test-shard=${shard}/${shards}`, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await once(child, 'close');
  return { passed: child.exitCode === 0, printed };
}

const running = Array.from({ length: shards }, (_, place) => runShard(place + 1));
for (const shard of running) {
  const { passed, printed } = await shard;
  process.stdout.write(printed);
  if (!passed) process.exitCode = 1;
}
