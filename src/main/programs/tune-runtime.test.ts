import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

/** Makes objects that outlive collections of the young heap, drops them, and prints the heap before and after. */
const program = `
import { mock } from 'node:test';
const [module, utilization, seconds] = process.argv.slice(1);
mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
mock.method(performance, 'eventLoopUtilization', () => ({ utilization: Number(utilization) }));
const { tuneRuntime } = await import(module);
let kept = Array.from({ length: 300_000 }, () => ({}));
tuneRuntime();
kept = undefined;
const before = process.memoryUsage().heapTotal;
mock.timers.tick(3000);
for (let second = 0; second < Number(seconds); second += 1) mock.timers.tick(1000);
console.log(JSON.stringify({ before, after: process.memoryUsage().heapTotal }));
`;

/** In a process of its own, because flags of V8 cannot be restored. */
function heapOf(utilization: number, seconds: number): { readonly before: number; readonly after: number } {
  const module = new URL('./tune-runtime.ts', import.meta.url).href;
  const words = ['--input-type=module', '-e', program, module, String(utilization), String(seconds)];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as { before: number; after: number };
}

test('a process that is idle after its start returns the memory of the start', () => {
  const { before, after } = heapOf(0.02, 1);
  assert.ok(after < before / 2, `${before} to ${after}`);
});

test('a process that is busy makes no collection for it', () => {
  const { before, after } = heapOf(0.5, 70);
  assert.ok(after >= before, `${before} to ${after}`);
});
