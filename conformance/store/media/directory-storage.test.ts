import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { openDirectoryStorage } from '../../../src/store/media/directory-storage.ts';
import { type StorageUnderTest, testMediaStorage } from './media-storage-suite.ts';
import { collect, source } from './sources.ts';

const { signal } = new AbortController();
const options = { mediaType: 'video/mp4', bytesMax: 1_000_000_000, signal };

async function find(directory: string, name: string): Promise<string> {
  const path = (await readdir(directory, { recursive: true })).find((entry) => entry.endsWith(`/${name}`));
  return join(directory, path ?? 'none');
}

async function start(): Promise<StorageUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'weir-media-'));
  return {
    storage: await openDirectoryStorage(join(directory, 'media')),
    unfinished: () => readdir(join(directory, 'media', 'unfinished')),
    age: async (key, atMs) => {
      await utimes(await find(directory, key), atMs / 1000, atMs / 1000);
    },
    keepsWhatIsRead: true,
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

testMediaStorage('a directory', start);

async function createDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'weir-media-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

test('files and folders are accessible to the user of the program alone', async (context) => {
  const directory = join(await createDirectory(context), 'media');
  const storage = await openDirectoryStorage(directory);
  await storage.write('secret', source(10), options);
  for (const entry of await readdir(directory, { recursive: true })) {
    const { mode } = await stat(join(directory, entry));
    assert.equal(mode & 0o077, 0, entry);
  }
  assert.equal((await stat(directory)).mode & 0o077, 0);
});

test('no folder has more than a small part of many files', async (context) => {
  const directory = await createDirectory(context);
  const storage = await openDirectoryStorage(directory);
  await Promise.all(Array.from({ length: 400 }, (_, index) => storage.write(`video_${index}`, source(1), options)));
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const folders = Map.groupBy(
    entries.filter((entry) => entry.isFile()),
    (entry) => entry.parentPath,
  );
  assert.ok(Math.max(...[...folders.values()].map((files) => files.length)) <= 4);
});

test('a directory that cannot be used is reported as an unavailable storage', async (context) => {
  const directory = await createDirectory(context);
  await writeFile(join(directory, 'file'), '');
  await assert.rejects(openDirectoryStorage(join(directory, 'file')), { name: 'MediaStorageError', problem: 'unavailable' });
  const storage = await openDirectoryStorage(join(directory, 'media'));
  await rm(join(directory, 'media'), { recursive: true });
  await writeFile(join(directory, 'media'), '');
  const unavailable = { name: 'MediaStorageError', problem: 'unavailable' };
  await assert.rejects(storage.write('a', source(1), options), unavailable);
  await assert.rejects(storage.open('a', undefined, signal), unavailable);
  await assert.rejects(storage.listOlderThan(0, 1), unavailable);
});

test('the remains of a killed program are listed by the next one', async (context) => {
  const directory = await createDirectory(context);
  await openDirectoryStorage(directory);
  await writeFile(join(directory, 'unfinished', 'video_1.0b9c3c1e-2f0a-4a53-9f2b-6f0d7a3f5a11'), 'half of it');
  const storage = await openDirectoryStorage(directory);
  const listed = await storage.listOlderThan(Date.now() + 60_000, 10);
  assert.deepEqual(listed, ['video_1.0b9c3c1e-2f0a-4a53-9f2b-6f0d7a3f5a11']);
  assert.equal(await collect(await storage.open('video_1', undefined, signal)), undefined);
  for (const key of listed) await storage.remove(key);
  assert.deepEqual(await readdir(join(directory, 'unfinished')), []);
});

test('a full disk is reported as an unavailable storage, and nothing of the file remains', async (context) => {
  const directory = await createDirectory(context);
  const small = join(directory, 'small');
  await mkdir(small);
  try {
    execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', small], { stdio: 'ignore' });
  } catch {
    context.skip('mounting a small file system needs rights that this user does not have');
    return;
  }
  try {
    const storage = await openDirectoryStorage(small);
    await storage.write('fits', source(1_000_000), options);
    await assert.rejects(storage.write('large', source(9_000_000), options), { name: 'MediaStorageError', problem: 'unavailable' });
    assert.deepEqual(await readdir(join(small, 'unfinished')), []);
    assert.equal(await storage.open('large', undefined, signal), undefined);
    await storage.write('also-fits', source(2_000_000), options);
  } finally {
    execFileSync('/usr/bin/umount', ['-l', small], { stdio: 'ignore' });
  }
});
