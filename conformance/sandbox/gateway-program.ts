import { createCodeExecution } from '../../src/tools/code-execution/create-code-execution.ts';
import { silentLogger } from '../../src/platform/log.ts';
import { tmpdir } from 'node:os';

/**
 * A process with active sandboxes, to be killed: one in an endless loop, one idle. It reports when the loop has begun.
 */
const execution = createCodeExecution({
  limits: { timeoutMs: 60_000, memoryMb: 128, outputBytesMax: 10_000 },
  poolSize: 0,
  concurrencyMax: 2,
  folder: tmpdir(),
  logger: silentLogger,
});
const tool = await execution.make({ kind: 'code-execution' }, { userName: 'a', keyId: 'key_a' });
const idle = await execution.make({ kind: 'code-execution' }, { userName: 'b', keyId: 'key_b' });
const run = (code: string): Promise<unknown> =>
  tool.run({ callId: 'call_1', arguments: { code }, firstSource: 1, knowsAddress: () => false, signal: new AbortController().signal });
await run('x = 1');
await idle.run({
  callId: 'call_2',
  arguments: { code: '1' },
  firstSource: 1,
  knowsAddress: () => false,
  signal: new AbortController().signal,
});
void run('while True: pass');
process.stdout.write('looping\n');
