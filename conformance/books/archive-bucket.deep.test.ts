import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { withArchives } from '../../src/billing/archive/with-archives.ts';
import { databasePath } from '../../src/main/assembly/open-data-directory.ts';
import { openArchiveFilesLater } from '../../src/main/assembly/open-archive-files.ts';
import { createS3Storage } from '../../src/store/media/s3-storage.ts';
import type { Store } from '../../src/store/store.ts';
import { runCommand } from '../programs/run-command.ts';
import { createEntry } from '../store/call-entries.ts';
import { type ObjectStore, startObjectStore } from '../support/start-object-store.ts';
import { fillBooks, useStore } from './fill-books.ts';

/** More than a single request of an upload takes, because none of it can be compressed. */
const noiseBytes = 6000;
const rows = 2000;
const firstMs = Date.UTC(2024, 0, 1);
/** Each call in the same month. */
const stepMs = 60_000;
const span = { startMs: firstMs, endMs: firstMs + rows * stepMs, limit: 10_000 };

/** The commands as an operator runs them, on calls of one month with more than 8 MiB, and a smaller second month. */
describe('archives of calls in a bucket', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-archive-bucket-'));
  const path = databasePath(folder);
  const configFile = join(folder, 'weir.yaml');
  const noise = (): string => randomBytes(noiseBytes * 0.75).toString('base64');
  const entries = Array.from({ length: rows }, (_, at) =>
    createEntry(`bucket-${String(at).padStart(6, '0')}`, { acceptedAtMs: firstMs + at * stepMs, rawUsage: { noise: noise() } }),
  );
  const february = Date.UTC(2024, 1, 10);
  let objects: ObjectStore;
  let retention: { readonly months: number; readonly s3: ObjectStore['settings'] & { readonly prefix: string } };

  before(async () => {
    objects = await startObjectStore();
    retention = { months: 1, s3: { ...objects.settings, prefix: 'books/' } };
    writeFileSync(configFile, JSON.stringify({ books: { retention } }));
    await withStore((store) => fillBooks(store, entries));
  });
  after(async () => {
    await objects[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const withStore = <Result>(use: (store: Store) => Promise<Result>): Promise<Result> => useStore(path, use);
  const archive = (...words: readonly string[]) => runCommand(['archive', ...words], { WEIR_DATA_DIR: folder, WEIR_CONFIG: configFile });
  const archives = () => withStore((store) => store.listArchives());
  const inTable = () => withStore(async (store) => (await store.listEntriesBetween(span)).length);
  const files = (store: Store) => openArchiveFilesLater({ config: retention, environment: { dataDirectory: folder }, store });
  /** The object of an archive. */
  const objectOf = async (id: string): Promise<string> =>
    objects.pathOf(`books/${await withStore((store) => store.databaseId())}/${id}.parquet`);

  test('while the bucket refuses or loses bytes, nothing leaves the database', async () => {
    objects.interfere((incoming, response) => {
      if (incoming.method !== 'PUT' && incoming.method !== 'POST') return false;
      incoming.resume();
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      return true;
    });
    const refused = await archive('run');
    assert.notEqual(refused.code, 0);
    assert.deepEqual([await inTable(), await archives()], [rows, []]);
    // A service that confirms the upload and then returns other bytes.
    objects.interfere((incoming, response) => {
      if (incoming.method !== 'GET') return false;
      response.writeHead(200).end(randomBytes(1000));
      return true;
    });
    const other = await archive('run');
    objects.interfere(undefined);
    assert.notEqual(other.code, 0, other.stdout);
    assert.deepEqual([await inTable(), await archives()], [rows, []]);
    assert.deepEqual(await objects.unfinished(), []);
  });

  test('a month goes there in parts, and each call is found in it as it was', async () => {
    const done = await archive('run');
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^http:\/\/\S+\/videos\/books\/[0-9a-f]{16}\/calls-2024-01\.parquet: 2000 rows, verified and dropped$/m);
    const [first] = await archives();
    assert.ok((first?.bytes ?? 0) > 8 * 2 ** 20, `only ${first?.bytes} bytes: one request`);
    assert.equal(await inTable(), 0);
    await withStore(async (store) => {
      const merged = withArchives(store, files(store), AbortSignal.timeout(60_000));
      assert.deepEqual(await merged.listEntriesBetween(span), entries);
    });
    const receipt = await runCommand(['receipt', 'bucket-000042'], { WEIR_DATA_DIR: folder, WEIR_CONFIG: configFile });
    assert.equal(receipt.code, 0, receipt.stderr);
    assert.match(receipt.stdout, /bucket-000042/);
  });

  test('calls that come late go to an object of their own, and the first one stays as it is', async () => {
    const before = readFileSync(await objectOf('calls-2024-01'));
    await withStore(async (store) => {
      await store.appendEntries([createEntry('late', { acceptedAtMs: firstMs + 1 }), createEntry('later', { acceptedAtMs: february })]);
      // The newest row always stays.
      await store.appendEntries([createEntry('newest of all', { acceptedAtMs: Date.now() })]);
      while ((await store.followCalls(500, Date.now())) === 'more');
    });
    assert.equal((await archive('run')).code, 0);
    const known = await archives();
    assert.deepEqual(
      known.map(({ id, sums, state }) => [id, sums.rows, state]),
      [
        ['calls-2024-01', rows, 'dropped'],
        ['calls-2024-01-2', 1, 'dropped'],
        ['calls-2024-02', 1, 'dropped'],
      ],
    );
    assert.ok(readFileSync(await objectOf('calls-2024-01')).equals(before));
    assert.equal((await archive('verify')).code, 0);
  });

  test('media in the same place never lists an archive as a file without an owner', async () => {
    const prefix = `books/${await withStore((store) => store.databaseId())}/`;
    const media = createS3Storage({ ...objects.settings, prefix });
    assert.deepEqual(await media.listOlderThan(Date.now() + 86_400_000, 1000), []);
  });

  test('an object that was changed or deleted is named by the verification, and no receipt is made of it', async () => {
    const [changed, deleted] = [await objectOf('calls-2024-02'), await objectOf('calls-2024-01-2')];
    const bytes = readFileSync(changed);
    writeFileSync(changed, Buffer.concat([bytes.subarray(0, 40), Buffer.from([(bytes[40] ?? 0) ^ 0xff]), bytes.subarray(41)]));
    rmSync(deleted);
    const { code, stdout, stderr } = await archive('verify');
    assert.equal(code, 1);
    for (const id of ['calls-2024-02', 'calls-2024-01-2']) assert.ok(`${stdout}${stderr}`.includes(id), `${stdout}${stderr}`);
    const receipt = await runCommand(['receipt', 'late'], { WEIR_DATA_DIR: folder, WEIR_CONFIG: configFile });
    assert.notEqual(receipt.code, 0);
    assert.match(receipt.stderr, /calls-2024-01-2\.parquet is missing/);
  });
});
