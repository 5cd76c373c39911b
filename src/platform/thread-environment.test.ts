import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'weir-compiled-'));
after(() => rmSync(directory, { recursive: true }));

/** Prints the environment of a thread and where the process and the thread keep compiled code. */
const script = `
  import { getCompileCacheDir } from 'node:module';
  import { Worker } from 'node:worker_threads';
  import { threadEnvironment } from ${JSON.stringify(new URL('./thread-environment.ts', import.meta.url).href)};
  const source = "require('node:worker_threads').parentPort.postMessage([process.env, require('node:module').getCompileCacheDir() ?? null])";
  const thread = new Worker(source, { eval: true, execArgv: [], env: threadEnvironment() });
  thread.once('message', (seen) => console.log(JSON.stringify([...seen, getCompileCacheDir() ?? null])));
`;

async function look(environment: Record<string, string>): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    env: { OPENAI_API_KEY: 'sk-secret', ...environment },
  });
  return JSON.parse(stdout);
}

test('a thread stores compiled code where its process does, and sees no other variable', async () => {
  const [seen, inThread, inProcess] = (await look({ NODE_COMPILE_CACHE: directory })) as [object, string, string];
  assert.deepEqual(seen, { NODE_COMPILE_CACHE: directory });
  assert.ok(inThread.startsWith(directory));
  assert.equal(inThread, inProcess);
});

test('a thread sees no variable if its process stores no compiled code', async () => {
  assert.deepEqual(await look({}), [{}, null, null]);
});
