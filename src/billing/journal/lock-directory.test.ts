import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { lockDirectory } from './lock-directory.ts';

describe('the lock of a journal directory', () => {
  let directory = '';
  const content = (): string => readFileSync(join(directory, 'journal.lock'), 'utf8');

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'weir-lock-'));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  test('is held once, names its holder, and leaves nothing behind', () => {
    const release = lockDirectory(directory);
    assert.throws(() => lockDirectory(directory), new RegExp(`another process is using .* \\(process ${process.pid}\\)`));
    release();
    assert.deepEqual(readdirSync(directory), []);
    lockDirectory(directory)();
  });

  test(
    'reused-process-id: a lock of an earlier process with the same id is stale',
    { skip: process.platform !== 'linux' && 'needs /proc' },
    () => {
      lockDirectory(directory);
      writeFileSync(join(directory, 'journal.lock'), content().replace(/ \d+$/, ' 1'));
      lockDirectory(directory)();
    },
  );

  test('dead-holder and a file that names nobody are stale', () => {
    for (const held of ['999999999 boot 1', '', 'nonsense', '-1 a b', '0 a b']) {
      writeFileSync(join(directory, 'journal.lock'), held);
      lockDirectory(directory)();
    }
    assert.deepEqual(readdirSync(directory), []);
  });

  test('a release after the lock was taken over removes nobody else’s', () => {
    const release = lockDirectory(directory);
    writeFileSync(join(directory, 'journal.lock'), 'someone else');
    release();
    assert.equal(content(), 'someone else');
  });
});
