import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { isDirectoryHeld, lockDirectory } from './lock-directory.ts';

const needsProc = { skip: process.platform !== 'linux' && 'needs /proc' };
const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** The state and the start time of a process: fields 3 and 22 of its stat file; field 2 is in parentheses. */
function statusOf(processId: number): { readonly state: string; readonly start: string } {
  const [, state = '', rest = ''] = /^\d+ \(.*\) (\S) (.*)$/.exec(readFileSync(`/proc/${processId}/stat`, 'utf8').trim()) ?? [];
  return { state, start: rest.split(' ')[18] ?? '' };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    assert.ok(performance.now() < deadline, 'waited too long');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/**
 * A process that runs until `end`, with a child that has ended and that it never waits for. A shell would wait, so the
 * shell replaces itself by another program before its child ends.
 */
async function startParent() {
  const parent = spawn('sh', ['-c', 'read line <&3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] });
  const exited = once(parent, 'exit');
  const end = async (): Promise<void> => {
    parent.kill('SIGKILL');
    await exited;
  };
  const living = parent.pid ?? 0;
  assert.ok(parent.stdout);
  const [output] = (await once(parent.stdout, 'data')) as [Buffer];
  const dead = Number(String(output));
  await until(() => readFileSync(`/proc/${living}/comm`, 'utf8').trim() === 'sleep');
  parent.stdio[3]?.destroy();
  await until(() => statusOf(dead).state === 'Z');
  return { living, dead, end };
}

describe('the lock of a journal directory', () => {
  let directory = '';
  const content = (): string => readFileSync(join(directory, 'journal.lock'), 'utf8');

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'weir-lock-'));
  });

  afterEach(() => rmSync(directory, { recursive: true }));

  test('is held once, names its holder, and leaves no file', () => {
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

  test('the lock of a dead process, and a file without a holder, are stale', () => {
    for (const held of ['999999999 boot 1', '', 'nonsense', '-1 a b', '0 a b']) {
      writeFileSync(join(directory, 'journal.lock'), held);
      lockDirectory(directory)();
    }
    assert.deepEqual(readdirSync(directory), []);
  });

  test('a release after a takeover does not remove the lock of the new holder', () => {
    const release = lockDirectory(directory);
    writeFileSync(join(directory, 'journal.lock'), 'someone else');
    release();
    assert.equal(content(), 'someone else');
  });

  test('the lock of another process is held while it runs, and stale if it is a zombie', needsProc, async () => {
    const { living, dead, end } = await startParent();
    try {
      for (const [processId, isHeld] of [
        [living, true],
        [dead, false],
      ] as const) {
        writeFileSync(join(directory, 'journal.lock'), `${processId} ${bootId()} ${statusOf(processId).start}`);
        assert.equal(isDirectoryHeld(directory), isHeld);
      }
      lockDirectory(directory)();
      writeFileSync(join(directory, 'journal.lock'), `${living} ${bootId()} ${statusOf(living).start}`);
      assert.throws(() => lockDirectory(directory), new RegExp(`\\(process ${living}\\)`));
    } finally {
      await end();
    }
  });

  test('locks with impossible process ids are stale', needsProc, () => {
    for (const name of ['999999999', '0', '-1', 'NaN']) {
      writeFileSync(join(directory, 'journal.lock'), `${name} ${bootId()} unknown`);
      assert.equal(isDirectoryHeld(directory), false, name);
    }
  });

  test('the state can be read without taking the lock, and only its owner can read the file', () => {
    assert.equal(isDirectoryHeld(directory), false);
    const release = lockDirectory(directory);
    assert.equal(isDirectoryHeld(directory), true);
    assert.equal(statSync(join(directory, 'journal.lock')).mode & 0o777, 0o600);
    release();
    assert.equal(isDirectoryHeld(directory), false);
  });

  test('a lock that cannot be read is an error, and does not count as free', () => {
    mkdirSync(join(directory, 'journal.lock'));
    assert.throws(() => lockDirectory(directory), { code: 'EISDIR' });
    assert.deepEqual(readdirSync(directory), ['journal.lock']);
  });
});
