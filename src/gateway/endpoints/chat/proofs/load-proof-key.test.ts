import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';

import { loadProofKey } from './load-proof-key.ts';

function createPath(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'weir-proof-key-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'proof-vault.key');
}

test('the key is created once, from 32 random bytes, readable only by its owner, and is found again', (context) => {
  const path = createPath(context);
  const key = loadProofKey({ path });
  assert.equal(key.length, 32);
  assert.deepEqual(loadProofKey({ path }), key);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(path, '..')), ['proof-vault.key'], 'no draft remains');
  const other = createPath(context);
  assert.notDeepEqual(loadProofKey({ path: other }), key);
});

test('processes that start at the same moment agree on one key', async (context) => {
  const path = createPath(context);
  const program = `
    import { loadProofKey } from ${JSON.stringify(new URL('./load-proof-key.ts', import.meta.url).href)};
    process.stdout.write(loadProofKey({ path: ${JSON.stringify(path)} }).toString('hex'));`;
  const run = promisify(execFile);
  const outputs = await Promise.all([1, 2, 3].map(() => run(process.execPath, ['--input-type=module', '-e', program])));
  assert.deepEqual(new Set(outputs.map(({ stdout }) => stdout)), new Set([readFileSync(path, 'utf8').trim()]));
});

test('a configured key is accepted in either spelling, and no file is created', (context) => {
  const path = createPath(context);
  const key = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - index));
  const spellings = [
    key.toString('hex'),
    key.toString('hex').toUpperCase(),
    key.toString('base64'),
    key.toString('base64url'),
    key.toString('base64').slice(0, 43),
  ];
  for (const text of spellings) assert.deepEqual(loadProofKey({ path, given: { name: 'WEIR_PROOF_KEY', text } }), key, text);
  assert.deepEqual(readdirSync(join(path, '..')), []);
});

test('an invalid configured key is refused by its name and not repeated', (context) => {
  const path = createPath(context);
  for (const text of ['secret', 'a'.repeat(63), 'a'.repeat(65), '!'.repeat(43), `${'a'.repeat(43)}==`, 'a'.repeat(42)]) {
    assert.throws(
      () => loadProofKey({ path, given: { name: 'WEIR_PROOF_KEY', text } }),
      (error: Error) => error.name === 'ProofKeyError' && error.message.startsWith('WEIR_PROOF_KEY') && !error.message.includes(text),
    );
  }
});

test('a damaged file is refused and not replaced, because data sealed with its key may still be needed', (context) => {
  const path = createPath(context);
  for (const content of ['', 'abc', 'f'.repeat(63)]) {
    writeFileSync(path, content);
    assert.throws(() => loadProofKey({ path }), { name: 'ProofKeyError', message: /is damaged/ });
    assert.equal(readFileSync(path, 'utf8'), content);
  }
});

test('a file that others can read is closed to them', (context) => {
  const path = createPath(context);
  loadProofKey({ path });
  chmodSync(path, 0o644);
  loadProofKey({ path });
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a missing folder is named', (context) => {
  const path = join(createPath(context), 'missing', 'proof-vault.key');
  assert.throws(() => loadProofKey({ path }), { name: 'ProofKeyError', message: /missing/ });
});
