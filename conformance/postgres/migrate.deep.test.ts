import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { lockDataDirectory } from '../../src/store/sqlite/data-directory-lock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { runCommand } from '../programs/run-command.ts';
import { createEntry } from '../store/call-entries.ts';
import { hostileNames } from '../store/hostile-names.ts';
import { createTask } from '../store/tasks/task-fixtures.ts';
import { createResponse, setUpConversations } from '../store/conversations/set-up.ts';
import { type PostgresServer, skipPostgres, startPostgres } from '../support/start-postgres.ts';
import { autoChunking } from '../../src/tools/file-search/file-objects.ts';
import { changeAt } from '../../src/audit/testing/test-change.ts';

const entryCount = 1203;
const startMs = Date.UTC(2026, 0, 5);

/** An object in every part of a store. */
async function fill(store: Store): Promise<void> {
  for (const [index, name] of hostileNames.entries()) {
    const user = await store.ensureUser({ id: `u${index}`, name, createdAtMs: index }, changeAt());
    const key = {
      id: `k${index}`,
      userId: user.id,
      userName: name,
      name,
      hint: 'h',
      createdAtMs: 1,
      strictTranslation: false,
      hash: `h${index}`,
    };
    await store.insertApiKey(key, changeAt());
  }
  const about = {
    number: 1,
    digest: 'd',
    label: 'ours',
    scope: 'whole',
    effectiveFrom: '2026-01-01',
    publishedAtMs: 1,
    actor: 'ann',
  } as const;
  await store.insertPriceBook({ ...about, note: 'é', book: '{}' }, changeAt());
  await store.recordPrices({ version: 'v+1', basis: '{}', recordedAtMs: 2 });
  await store.insertBillingToken({ id: 't', name: 'finance', hash: 'th', createdAtMs: 3 }, changeAt());
  for (let from = 0; from < entryCount; from += 400) {
    const entries = Array.from({ length: Math.min(400, entryCount - from) }, (_, index) =>
      createEntry(`call-${from + index}`, {
        userName: hostileNames[index % hostileNames.length] ?? '',
        acceptedAtMs: startMs + (from + index) * 7919,
        charge: { amountNanoUsd: 2n ** 53n + BigInt(index), lines: [] },
      }),
    );
    await store.appendEntries(entries);
  }
  await store.putProofs([{ lookup: 'a', sealed: 'sealed', expiresAtMs: 2 ** 42 }]);
  const { conversations } = setUpConversations(store);
  await conversations.saveResponse(createResponse('first'));
  await conversations.saveResponse(createResponse('second', { previousResponseId: 'first' }));
  await store.insertTask(createTask('video'), { owner: 'me', untilMs: startMs });
  await store.putCallbackSecrets({ userName: 'ann', current: Uint8Array.from([0, 255, 1]) });
  await addIndexedFile(store);
}

async function addIndexedFile(store: Store): Promise<void> {
  const file = {
    id: 'file_1',
    userName: 'ann',
    filename: 'a.txt',
    purpose: 'assistants',
    mediaType: 'text/plain',
    bytes: 5,
    createdAtMs: 1,
  };
  await store.beginUpload({ userName: 'ann', fileId: file.id, startedAtMs: 1 });
  await store.appendPiece({ fileId: file.id, index: 0, sealed: new Uint8Array(70_000).fill(7) });
  await store.finishUpload(file, 1e9);
  await store.insertVectorStore({ id: 'vs_1', userName: 'ann', name: 'n', metadata: {}, createdAtMs: 1, lastActiveAtMs: 1 });
  const files = [{ fileId: file.id, attributes: { year: 2026 }, chunking: autoChunking }];
  await store.addStoreFiles({ userName: 'ann', storeId: 'vs_1', files, nowMs: 1 });
  const lease = { storeId: 'vs_1', fileId: file.id, owner: 'me' };
  await store.claimIndexing({ owner: 'me', nowMs: 2, leaseMs: 1000, attemptsMax: 3 });
  const chunks = [{ text: 'The quick brown foxes', terms: 'The quick brown foxes', vector: Float32Array.of(1, 0) }];
  await store.addChunks({ ...lease, firstIndex: 0, chunks });
  await store.finishIndexing({ ...lease, status: 'completed' });
}

describe('weir migrate', { skip: skipPostgres }, () => {
  let server: PostgresServer | undefined;
  let directory = '';
  const postgres = (): PostgresServer => server ?? assert.fail();
  before(async () => {
    server = await startPostgres(['fsync=off']);
    directory = mkdtempSync(join(tmpdir(), 'weir-migrate-'));
    const store = await openSqliteStore({ path: join(directory, 'weir.sqlite') });
    await fill(store);
    await store.close();
  });
  after(async () => {
    await server?.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const migrate = (url: string) =>
    runCommand(['migrate', 'sqlite', 'postgres', '--url', '-'], { WEIR_DATA_DIR: directory, WEIR_OWNER_URL: url });

  test('everything arrives, sequences continue, and a second copy is refused', async () => {
    const url = postgres().url();
    const finished = await migrate(url);
    assert.equal(finished.code, 0, finished.stderr);
    assert.match(finished.stdout, new RegExp(`^calls: ${entryCount}$`, 'm'));
    const source = await openSqliteStore({ path: join(directory, 'weir.sqlite') });
    const target = await openPostgresStore({ url });
    try {
      const bounds = { startSeconds: startMs / 1000, endSeconds: startMs / 1000 + 86_400 };
      const answers = (store: Store): readonly Promise<unknown>[] => [
        store.pepper(),
        store.databaseId(),
        store.listApiKeys(),
        store.listBillingTokens(),
        store.keysVersion(),
        store.listEntries({ limit: 10_000 }),
        store.queryStatistics({ ...bounds, buckets: [bounds], rowsMax: 1000 }),
        store.findProofs({ lookups: ['a'], nowMs: 1, bytesMax: 1000 }),
        store.findTask({ userName: 'ann', id: 'video' }),
        store.findCallbackSecrets('ann'),
        store.readPiece({ fileId: 'file_1', index: 0 }),
        store.searchChunks({ userName: 'ann', storeIds: ['vs_1'], candidatesMax: 5, match: '"fox"' }),
        store.readSealedChain({ userName: 'anna', id: 'second', nowMs: 1, bytesMax: 1e6 }),
      ];
      assert.deepEqual(await Promise.all(answers(target)), await Promise.all(answers(source)));
      await setUpConversations(target).conversations.saveResponse(createResponse('third', { previousResponseId: 'second' }));
    } finally {
      await Promise.all([source.close(), target.close()]);
    }
    const again = await migrate(url);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /not empty/);
  });

  test('a copy that fails halfway leaves nothing, and can be repeated', async () => {
    const url = await postgres().createDatabase('halfway');
    await (await openPostgresStore({ url })).close();
    // The last rows of the ledger do not fit: the rows before them must be removed too.
    await postgres().query('alter table calls add constraint short check (call_id <> $$call-1200$$)', { database: 'halfway' });
    const failed = await migrate(url);
    assert.equal(failed.code, 1);
    assert.equal(
      await postgres().query('select (select count(*) from calls) + (select count(*) from users)', { database: 'halfway' }),
      '0',
    );
    await postgres().query('alter table calls drop constraint short', { database: 'halfway' });
    assert.equal((await migrate(url)).code, 0);
  });

  test('the data directory of a running gateway is not copied', async () => {
    const lock = lockDataDirectory(directory);
    try {
      const refused = await migrate(await postgres().createDatabase('locked'));
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /in use by process/);
    } finally {
      lock.release();
    }
  });

  test('the schema alone is made by the owner, and a repetition reports that there is nothing to do', async () => {
    const url = await postgres().createDatabase('schema');
    for (let time = 0; time < 2; time += 1)
      assert.match((await runCommand(['migrate', '--url', url], { WEIR_DATA_DIR: directory })).stdout, /up to date: version \d+/);
  });
});
