import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { makeDirectory, makeDirectoryAsync } from './make-directory.ts';

const base = mkdtempSync(join(tmpdir(), 'weir-make-directory-'));
after(() => rmSync(base, { recursive: true, force: true }));

for (const [name, make] of [
  ['makeDirectory', async (path: string): Promise<void> => makeDirectory(path)],
  ['makeDirectoryAsync', makeDirectoryAsync],
] as const) {
  describe(name, () => {
    test('makes every level that is missing, for this user only, and leaves an existing directory as it is', async () => {
      const path = join(base, name, 'one', 'two');
      await make(path);
      assert.equal(statSync(path).mode & 0o777, 0o700);
      assert.equal(statSync(join(base, name)).mode & 0o777, 0o700);
      writeFileSync(join(path, 'kept'), 'x');
      await make(`${path}/`);
      assert.ok(existsSync(join(path, 'kept')));
    });

    test('a file in the way, or above it, is named', async () => {
      const file = join(base, `${name}.txt`);
      writeFileSync(file, 'x');
      await assert.rejects(make(file), { code: 'EEXIST' });
      await assert.rejects(make(join(file, 'below')), { code: 'ENOTDIR' });
      const dangling = join(base, `${name}.link`);
      symlinkSync(join(base, 'nowhere'), dangling);
      await assert.rejects(make(dangling), { code: 'EEXIST' });
    });

    const procfs = { skip: existsSync('/proc/self/stat') ? false : 'this system has no procfs', timeout: 10_000 };
    test('a pseudo file system that answers "no such file" is not asked again and again', procfs, async () => {
      await assert.rejects(make('/proc/weir'), { code: 'ENOENT' });
      await assert.rejects(make('/proc/weir/below/it'), { code: 'ENOENT' });
    });
  });
}
