import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';

import type { ByteRange, MediaStorage } from '../../../src/tasks/media/media-storage.ts';
import { bytesAt, collect, sha256, source } from './sources.ts';

export type StorageUnderTest = AsyncDisposable & {
  readonly storage: MediaStorage;
  /** Begun and unfinished files, by any name. */
  readonly unfinished: () => Promise<readonly string[]>;
  /** Sets the time of everything in the storage to this time. */
  readonly age: (key: string, atMs: number) => Promise<void>;
  /** Whether a reader of a file continues to read it while it is replaced. */
  readonly keepsWhatIsRead: boolean;
};

const { signal } = new AbortController();
const options = { mediaType: 'video/mp4', bytesMax: 1_000_000_000, signal };
const megabyte = 1024 * 1024;

const lengths = [0, 1, 255, 8 * megabyte - 1, 8 * megabyte, 8 * megabyte + 1, 64 * megabyte];

/**
 * The contract of every storage of files.
 * @param lengthMax omits longer files, for a second form of a storage that differs in names only
 */
export function testMediaStorage(name: string, start: () => Promise<StorageUnderTest>, lengthMax = Infinity): void {
  describe(`files in ${name}`, () => {
    let under: StorageUnderTest;
    before(async () => {
      under = await start();
    });
    after(async () => under[Symbol.asyncDispose]());
    const read = async (key: string, range?: ByteRange) => collect(await under.storage.open(key, range, signal));

    for (const length of lengths.filter((each) => each <= lengthMax)) {
      test(`a file of ${length} bytes is read as it was written`, async () => {
        const expected = bytesAt(0, length);
        const kept = await under.storage.write('whole', source(length, { pieceBytes: 999_983 }), options);
        assert.deepEqual(kept, { bytes: length, sha256: sha256(expected) });
        assert.ok(expected.equals((await read('whole')) ?? Buffer.from('none')));
        assert.deepEqual(await under.unfinished(), []);
      });
    }

    const size = 700_001;
    const ranges: readonly [what: string, range: ByteRange, from: number, bytes: number][] = [
      ['the first byte', { start: 0, end: 0 }, 0, 1],
      ['the last byte', { start: size - 1, end: size - 1 }, size - 1, 1],
      ['the middle', { start: 262_143, end: 524_289 }, 262_143, 262_147],
      ['all', { start: 0, end: size - 1 }, 0, size],
      ['more than there is', { start: size - 10, end: size + 10 }, size - 10, 10],
      ['what lies behind it', { start: size, end: size + 10 }, size, 0],
    ];
    for (const [what, range, from, bytes] of ranges) {
      test(`a part of a file is read: ${what}`, async () => {
        await under.storage.write('parts', source(size), options);
        assert.ok(bytesAt(from, bytes).equals((await read('parts', range)) ?? Buffer.from('none')));
      });
    }

    test('a missing file is reported as missing, and may be removed twice', async () => {
      await under.storage.write('gone', source(10), options);
      await under.storage.remove('gone');
      await under.storage.remove('gone');
      assert.equal(await read('gone'), undefined);
      assert.equal(await read('gone', { start: 0, end: 3 }), undefined);
      assert.equal(await read('never-there'), undefined);
    });

    test('a replaced file is the new one, and readers of the old one continue', async () => {
      await under.storage.write('again', source(megabyte), options);
      const old = (await under.storage.open('again', undefined, signal))?.[Symbol.asyncIterator]();
      const first = await old?.next();
      await under.storage.write('again', source(500, { seed: 7 }), options);
      assert.ok(bytesAt(0, 500, 7).equals((await read('again')) ?? Buffer.from('none')));
      const pieces = [first?.value];
      if (under.keepsWhatIsRead) {
        for (let step = await old?.next(); step?.done === false; step = await old?.next()) pieces.push(step.value);
        assert.ok(bytesAt(0, megabyte).equals(Buffer.concat(pieces.filter((piece) => piece !== undefined))));
      }
      await old?.return?.();
    });

    test('two writers of one key leave the file of one of them', async (context) => {
      // A store that overwrites in place mixes the two; stores for production do not.
      if (!under.keepsWhatIsRead) return context.skip('the object store of the tests overwrites files in place');
      const length = 9 * megabyte;
      await Promise.all([1, 2].map((seed) => under.storage.write('both', source(length, { seed, pieceBytes: megabyte }), options)));
      const kept = await read('both');
      assert.ok([1, 2].some((seed) => bytesAt(0, length, seed).equals(kept ?? Buffer.alloc(0))));
      assert.deepEqual(await under.unfinished(), []);
    });

    testFailures(() => under, read);
    testKeys(() => under);
    testLists(() => under);
  });
}

/** A source that yields a little more than one part and then behaves as given. */
async function* broken(then: () => Promise<unknown>, told?: { left: boolean }): AsyncGenerator<Buffer> {
  try {
    yield* source(9 * megabyte, { pieceBytes: megabyte });
    await then();
  } finally {
    if (told !== undefined) told.left = true;
  }
}

function testFailures(under: () => StorageUnderTest, read: (key: string) => Promise<Buffer | undefined>): void {
  const keepsNothing = async (key: string): Promise<void> => {
    assert.ok(bytesAt(0, 100).equals((await read(key)) ?? Buffer.from('none')), 'the existing file remains');
    assert.deepEqual(await under().unfinished(), []);
  };

  test('a source that throws leaves the existing file, and its error is passed on', async () => {
    await under().storage.write('throws', source(100), options);
    const failure = new Error('the upstream failed');
    await assert.rejects(
      under().storage.write(
        'throws',
        broken(() => Promise.reject(failure)),
        options,
      ),
      (error) => error === failure,
    );
    await keepsNothing('throws');
  });

  for (const [what, bytesMax] of [
    ['of one part', 10],
    ['of several parts', 8 * megabyte + 1],
  ] as const) {
    test(`a file ${what} that is too large leaves the existing file, and its source is stopped`, async () => {
      await under().storage.write('large', source(100), options);
      const told = { left: false };
      await assert.rejects(
        under().storage.write(
          'large',
          broken(() => Promise.resolve(), told),
          { ...options, bytesMax },
        ),
        { name: 'MediaStorageError', problem: 'too-large' },
      );
      assert.equal(told.left, true);
      await keepsNothing('large');
    });
  }

  test('an abort ends a write whose source hangs, and leaves the existing file', async () => {
    await under().storage.write('aborted', source(100), options);
    const abort = new AbortController();
    const reason = new Error('it is over');
    const hangs = broken(() => {
      abort.abort(reason);
      return new Promise(() => undefined);
    });
    await assert.rejects(under().storage.write('aborted', hangs, { ...options, signal: abort.signal }), (error) => error === reason);
    await keepsNothing('aborted');
    await assert.rejects(under().storage.write('aborted', source(1), { ...options, signal: abort.signal }), (error) => error === reason);
    await assert.rejects(under().storage.open('aborted', undefined, abort.signal), (error) => error === reason);
  });

  test('an abort ends a read', async () => {
    await under().storage.write('read', source(4 * megabyte), options);
    const abort = new AbortController();
    const reading = (await under().storage.open('read', undefined, abort.signal))?.[Symbol.asyncIterator]();
    assert.equal((await reading?.next())?.done, false);
    abort.abort(new Error('it is over'));
    await assert.rejects(async () => reading?.next(), /it is over/);
  });

  test('a read that is cancelled, or never begun, is ended', async () => {
    await under().storage.write('left', source(4 * megabyte), options);
    for (let time = 0; time < 20; time += 1) {
      const never = (await under().storage.open('left', undefined, signal))?.[Symbol.asyncIterator]();
      assert.equal((await never?.return?.())?.done, true);
      assert.equal((await never?.next())?.done, true);
      for await (const piece of (await under().storage.open('left', undefined, signal)) ?? []) {
        assert.ok(piece.length > 0);
        break;
      }
    }
  });
}

function testKeys(under: () => StorageUnderTest): void {
  const hostile = [
    '',
    '.',
    '..',
    '../x',
    'a/b',
    '/etc/passwd',
    'a\\b',
    'a\0b',
    'a.mp4',
    '-rf',
    'a b',
    'ä',
    'a%2fb',
    'a\n',
    'a'.repeat(129),
  ];
  for (const key of hostile) {
    test(`an invalid key is refused: ${JSON.stringify(key.slice(0, 20))}`, async () => {
      await assert.rejects(under().storage.write(key, source(1), options), RangeError);
      await assert.rejects(under().storage.open(key, undefined, signal), RangeError);
      if (key !== 'a.mp4') await assert.rejects(under().storage.remove(key), RangeError);
    });
  }
}

function testLists(under: () => StorageUnderTest): void {
  const listAll = async (beforeMs: number, limit: number): Promise<readonly string[]> => {
    const keys: string[] = [];
    for (;;) {
      const page = await under().storage.listOlderThan(beforeMs, limit);
      assert.ok(page.length <= limit);
      if (page.length === 0) return keys.toSorted();
      keys.push(...page);
    }
  };

  test('only files that are unchanged since a time are listed, page by page', async () => {
    await listAll(0, 10);
    for (const key of await listAll(Date.now() + 3_600_000, 100)) await under().storage.remove(key);
    const keys = ['a1', 'b2', 'c3', 'd4', 'e5'];
    for (const key of [...keys, 'young']) await under().storage.write(key, source(10), options);
    const past = Date.now() - 7_200_000;
    for (const key of keys) await under().age(key, past);
    assert.deepEqual(await listAll(Date.now() - 3_600_000, 2), keys);
    assert.deepEqual(await listAll(past - 3_600_000, 2), []);
    assert.deepEqual(await listAll(Date.now() + 3_600_000, 4), [...keys, 'young']);
  });

  test('a file that was begun and never finished is listed, and can be removed without the finished file of that key', async () => {
    const abort = new AbortController();
    await under().storage.write('begun', source(100), options);
    const reached = Promise.withResolvers<void>();
    const hangs = broken(() => {
      reached.resolve();
      return new Promise(() => undefined);
    });
    const writing = under().storage.write('begun', hangs, { ...options, signal: abort.signal });
    await reached.promise;
    await wait(20);
    assert.equal((await listAll(Date.now() - 3_600_000, 100)).filter((key) => key.startsWith('begun.')).length, 0);
    const [listed = ''] = (await listAll(Date.now() + 3_600_000, 100)).filter((key) => key.startsWith('begun.'));
    assert.notEqual(listed, '');
    await under().storage.remove(listed);
    await under().storage.remove(listed);
    assert.deepEqual(await under().unfinished(), []);
    assert.equal((await collect(await under().storage.open('begun', undefined, signal)))?.length, 100);
    abort.abort(new Error('over'));
    await assert.rejects(writing, /over/);
  });
}
