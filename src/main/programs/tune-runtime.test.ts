import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

/** Makes objects that outlive collections of the young heap, drops them, and prints the heap before and after. */
const program = `
import { mock } from 'node:test';
const [module, ...shares] = process.argv.slice(1);
mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
let utilization = 0;
mock.method(performance, 'eventLoopUtilization', () => ({ utilization, active: utilization * 1000 }));
const { tuneRuntime } = await import(module);
let kept = Array.from({ length: 300_000 }, () => ({}));
tuneRuntime();
kept = undefined;
const before = process.memoryUsage().heapTotal;
mock.timers.tick(3000);
for (const share of shares) {
  utilization = Number(share);
  mock.timers.tick(1000);
}
console.log(JSON.stringify({ before, after: process.memoryUsage().heapTotal }));
`;

/**
 * In a process of its own, because flags of V8 cannot be restored.
 * @param shares the part of each second in which the process works
 */
function heapOf(...shares: readonly number[]): { readonly before: number; readonly after: number } {
  const module = new URL('./tune-runtime.ts', import.meta.url).href;
  const words = ['--input-type=module', '-e', program, module, ...shares.map(String)];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as { before: number; after: number };
}

test('a process that is idle after its start returns the memory of the start', () => {
  const { before, after } = heapOf(0.02);
  assert.ok(after < before / 2, `${before} to ${after}`);
});

test('a process that begins with a little work collects when it is idle', () => {
  const { before, after } = heapOf(0.5, 0.5, 0.5, 0.02);
  assert.ok(after < before / 2, `${before} to ${after}`);
});

test('a process that is busy for a minute makes no collection for it', () => {
  const { before, after } = heapOf(...Array.from({ length: 70 }, () => 0.06), 0.02);
  assert.ok(after >= before, `${before} to ${after}`);
});

test('a process that has worked for two seconds keeps its compiled code when it becomes idle', () => {
  const { before, after } = heapOf(0.9, 0.9, 0.9, 0.02);
  assert.ok(after >= before, `${before} to ${after}`);
});
