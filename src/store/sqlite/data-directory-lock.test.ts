import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { DataDirectoryLockedError, lockDataDirectory } from './data-directory-lock.ts';

function createDirectory(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'weir-lock-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test('a second lock in the same process is refused, and a released directory can be locked again', (context) => {
  const directory = join(createDirectory(context), 'made', 'on demand');
  const lock = lockDataDirectory(directory);
  assert.throws(() => lockDataDirectory(directory), DataDirectoryLockedError);
  lock.release();
  lock.release();
  assert.ok(!readdirSync(directory).includes('weir.lock.holder'));
  lockDataDirectory(directory).release();
});

test('a lock of another process names its pid, even if the lock object was dropped, and ends with kill -9', async (context) => {
  const directory = createDirectory(context);
  const program = `
    import { lockDataDirectory } from ${JSON.stringify(new URL('./data-directory-lock.ts', import.meta.url).href)};
    lockDataDirectory(${JSON.stringify(directory)});
    gc();
    process.stdout.write('locked');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  context.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  assert.throws(
    () => lockDataDirectory(directory),
    (error: unknown) => error instanceof DataDirectoryLockedError && error.message.includes(`process ${child.pid} on `),
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = lockDataDirectory(directory);
  lock.release();
});
