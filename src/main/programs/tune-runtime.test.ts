import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

/** Makes objects that outlive collections of the young heap, drops them, and prints the heap before and after. */
const program = `
import { mock } from 'node:test';
const [module, startMs, ...shares] = process.argv.slice(1);
mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
let [utilization, worked] = [0, 0];
mock.method(performance, 'eventLoopUtilization', (since) => ({ utilization, active: worked - (since?.active ?? 0) }));
const { tuneRuntime } = await import(module);
let kept = Array.from({ length: 300_000 }, () => ({}));
tuneRuntime();
kept = undefined;
const before = process.memoryUsage().heapTotal;
worked += Number(startMs);
mock.timers.tick(3000);
for (const share of shares) {
  utilization = Number(share);
  worked += 1000 * utilization;
  mock.timers.tick(1000);
}
console.log(JSON.stringify({ before, after: process.memoryUsage().heapTotal }));
`;

/**
 * In a process of its own, because flags of V8 cannot be restored.
 * @param startMs how much the process works in its first three seconds
 * @param shares the part of each later second in which it works
 */
function heapOf(startMs: number, ...shares: readonly number[]): { readonly before: number; readonly after: number } {
  const module = new URL('./tune-runtime.ts', import.meta.url).href;
  const words = ['--input-type=module', '-e', program, module, ...[startMs, ...shares].map(String)];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as { before: number; after: number };
}

test('a process that is idle after its start returns the memory of the start', () => {
  const { before, after } = heapOf(400, 0.02);
  assert.ok(after < before / 2, `${before} to ${after}`);
});

test('a process that begins with a little work collects when it is idle', () => {
  const { before, after } = heapOf(400, 0.2, 0.2, 0.02);
  assert.ok(after < before / 2, `${before} to ${after}`);
});

test('a process that is busy for a minute makes no collection for it', () => {
  const { before, after } = heapOf(400, ...Array.from({ length: 70 }, () => 0.06), 0.02);
  assert.ok(after >= before, `${before} to ${after}`);
});

test('a process that has worked for more than a second keeps its compiled code when it becomes idle', () => {
  const { before, after } = heapOf(400, 0.6, 0.6, 0.02);
  assert.ok(after >= before, `${before} to ${after}`);
});

test('calls in the first seconds of a process count as its work', () => {
  const { before, after } = heapOf(2000, 0.02);
  assert.ok(after >= before, `${before} to ${after}`);
});

test('compiled code is not thrown away within seconds after a burst of calls', () => {
  const module = new URL('./tune-runtime.ts', import.meta.url).href;
  // V8 tells when it will collect to return memory. It thinks about that after a collection, so objects are kept.
  const burst = `
    import { mock } from 'node:test';
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const { tuneRuntime } = await import(process.argv[1]);
    tuneRuntime();
    mock.timers.tick(3000);
    let kept = [];
    for (let round = 0; round < 100; round++) {
      for (let made = 0; made < 50_000; made++) kept.push({ made });
      if (round % 10 === 9) kept = [];
      await new Promise(setImmediate);
    }
  `;
  const flags = ['--trace-memory-reducer', '--gc-memory-reducer-start-delay-ms=0', '--input-type=module', '-e', burst, module];
  const told = execFileSync(process.execPath, flags, { encoding: 'utf8' });
  const waits = [...told.matchAll(/waiting for (\d+) ms/g)].map(([, ms]) => Number(ms));
  assert.ok(waits.length > 0, told);
  for (const ms of waits) assert.equal(ms, 600_000);
});
