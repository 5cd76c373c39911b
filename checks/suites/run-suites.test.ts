import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const runner = join(import.meta.dirname, 'run-suites.ts');

/** Writes suites and runs them one after another in one process. */
async function run(
  suites: Readonly<Record<string, string>>,
  limitMs = 30_000,
  attempts = 1,
): Promise<{ readonly code: number | null; readonly printed: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-suites-'));
  try {
    for (const [name, text] of Object.entries(suites))
      writeFileSync(join(folder, `${name}.mjs`), `import { after, before, beforeEach, test } from 'node:test';\n${text}`);
    // With this variable a test run reports to its parent and prints nothing.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, [runner, '--limit-ms', String(limitMs), `${folder}/*.mjs`], {
      env: { ...env, WEIR_SUITE_ATTEMPTS: String(attempts) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await once(child, 'close');
    return { code: child.exitCode, printed };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('suites that share a process', { concurrency: 3 }, () => {
  test('hooks of a file are run when its turn comes, and for its own tests only', async () => {
    const { code, printed } = await run({
      a: `before(() => (globalThis.open = 'a')); after(() => (globalThis.open = '')); beforeEach(() => (globalThis.each = 'a'));
          test('one', (t) => t.assert.deepEqual([globalThis.open, globalThis.each], ['a', 'a']));`,
      b: `test('two', (t) => t.assert.deepEqual([globalThis.open, globalThis.each], ['', 'a']));
          test('three', (t) => { globalThis.each = 'b'; t.assert.equal(globalThis.open, ''); });
          test('four', (t) => t.assert.equal(globalThis.each, 'b'));`,
    });
    assert.equal(code, 0, printed);
    assert.match(printed, /^tests 4, pass 4, fail 0/m);
  });

  test('a failure is reported, and the suites after it are run', async () => {
    const { code, printed } = await run({ a: `test('fails', (t) => t.assert.equal(1, 2));`, b: `test('passes', () => {});` });
    assert.equal(code, 1);
    assert.match(printed, /✖ fails/);
    assert.match(printed, /^tests 2, pass 1, fail 1/m);
    assert.match(printed, /WEIR_PROPERTY_SEED=\d+/, 'its properties can be drawn again');
  });

  test('a suite that blocks its process is killed, and the programs that it started end with it', async () => {
    const blocks = `import { spawn } from 'node:child_process';
      test('blocks', () => { console.log('started ' + spawn('sleep', ['1000'], { stdio: 'ignore' }).pid); for (;;); });`;
    const { code, printed } = await run({ a: blocks }, 2000);
    assert.equal(code, 1, printed);
    const pid = /started (\d+)/.exec(printed)?.[1] ?? assert.fail(printed);
    const isRunning = (): boolean => {
      try {
        // A killed process remains as a zombie until its new parent has noticed.
        return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      } catch {
        return false;
      }
    };
    for (const endMs = Date.now() + 10_000; isRunning() && Date.now() < endMs;) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(isRunning(), false);
  });

  for (const [what, text, limitMs] of [
    ['a process that ends well in the middle of a suite', `test('ends', () => process.exit(0)); test('never', () => {});`],
    ['a suite that cannot be loaded', `import './is-not-there.mjs';`],
    ['an error after the last test', `test('late', () => void setTimeout(() => { throw new Error('late'); }, 20));`],
    [
      'an error that no test waits for',
      `test('waits', async () => { setTimeout(() => { throw new Error('lost'); }, 1); await new Promise((resolve) => setTimeout(resolve, 1e6)); });`,
    ],
    [
      'a rejection that nobody handles',
      `test('waits', async () => { void Promise.reject(new Error('lost')); await new Promise((resolve) => setTimeout(resolve, 1e6)); });`,
    ],
    ['a test that never ends', `test('hangs', () => new Promise((resolve) => setTimeout(resolve, 1e6).unref()));`, 2000],
  ] as const)
    test(`${what} is a failure, and the suites after it are run`, async () => {
      const { code, printed } = await run({ a: text, b: `test('after it', () => {});` }, limitMs);
      assert.equal(code, 1, printed);
      assert.match(printed, /b\.mjs \d/);
    });

  test('an error that nobody caught is shown, and only its suite is to blame', async () => {
    const lost = `test('waits', async () => { setTimeout(() => { throw new Error('lost'); }, 1); await new Promise(() => setInterval(() => {}, 1e6)); });`;
    const { printed } = await run({ a: `test('before it', () => {});`, b: lost, c: `test('after it', () => {});` });
    assert.match(printed, /Error: lost/);
    assert.match(printed, /\nFAILED \S+b\.mjs\n$/);
    assert.doesNotMatch(printed, /FAILED \S+[ac]\.mjs/);
  });

  const failsAt = (...numbers: readonly number[]): string => `import { appendFileSync, readFileSync } from 'node:fs';
    test('counts', (t) => { appendFileSync(import.meta.filename + '.log', '.');
      t.assert.ok(![${numbers.join()}].includes(readFileSync(import.meta.filename + '.log').length)); });`;

  test('with two attempts, a suite that passes alone is named as unsteady, and the run passes', async () => {
    const { code, printed } = await run({ a: failsAt(1), b: `test('passes', () => {});` }, 30_000, 2);
    assert.equal(code, 0, printed);
    assert.match(printed, /^unsteady, passed when it ran again alone: \S+a\.mjs$/m);
    assert.match(printed, /✖ counts/);
  });

  test('with two attempts, a suite that fails twice fails the run, which ends with its name', async () => {
    const { code, printed } = await run({ a: failsAt(1, 2), b: `test('passes', () => {});` }, 30_000, 2);
    assert.equal(code, 1, printed);
    assert.match(printed, /\nFAILED \S+a\.mjs\n$/);
    assert.doesNotMatch(printed, /unsteady|b\.mjs\n/);
  });

  test('with one attempt, a suite that fails once fails the run', async () => assert.equal((await run({ a: failsAt(1) })).code, 1));

  test('a run that finds no suite is a failure', async () => assert.equal((await run({})).code, 1));
});
