import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createResponse, setUpConversations } from './conversations/set-up.ts';
import { createConversations } from '../../src/conversations/create-conversations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { eventually } from '../support/http.ts';

async function createDirectory(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'weir-conversations-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** Whether any file of the database contains any of the texts. */
async function findInFiles(directory: string, texts: readonly (string | Buffer)[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await readdir(directory)) {
    const content = await readFile(join(directory, name));
    for (const text of texts) if (content.includes(text)) found.push(`${name}: ${String(text).slice(0, 20)}`);
  }
  return found;
}

test('confirmed writes survive a kill -9 during writing, and nothing exists in part', async (context) => {
  const path = join(await createDirectory(context), 'weir.sqlite');
  const key = randomBytes(32);
  const main = fileURLToPath(new URL('./save-responses-main.ts', import.meta.url));
  const writer = spawn(process.execPath, [main, path, key.toString('hex')], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  writer.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()));
  await eventually(
    () => printed.split('\n').length,
    (lines) => lines > 200,
    30_000,
  );
  writer.kill('SIGKILL');
  await once(writer, 'close');
  const confirmed = printed.split('\n').slice(0, -1).map(Number);
  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  const conversations = createConversations({ store, key, clock: systemClock });
  const itemIds = new Set((await conversations.readConversation('anna', 'conv'))?.map((item) => item['id']));
  for (const number of confirmed) {
    assert.equal((await conversations.readChain('anna', `r${number}`))?.length, 2 * (Math.floor(number / 8) + 1), `r${number}`);
    assert.ok(itemIds.has(`c${number}`), `c${number}`);
  }
  const found = await conversations.findItems(
    'anna',
    confirmed.map((number) => `i${number}`),
  );
  assert.equal(found.size, confirmed.length);
});

test('no file shows the conversation, and none keeps the sealed bytes of deleted content', async (context) => {
  const directory = await createDirectory(context);
  const store = await openSqliteStore({ path: join(directory, 'weir.sqlite') });
  context.after(() => store.close());
  const { conversations, sweep } = setUpConversations(store);
  const text = 'said-canary '.repeat(5000);
  const input = [{ id: 'item-canary', type: 'message', text, noise: randomBytes(40_000).toString('base64') }];
  const metadata = { note: 'metadata-canary' };
  await conversations.saveResponse(createResponse('resp_1', { input, status: 'in_progress' }));
  await conversations.appendEvents('anna', 'resp_1', 0, [`event-canary ${text}`]);
  await conversations.saveResponse(createResponse('resp_1', { input }));
  await conversations.createConversation({ id: 'conv_1', userName: 'anna', createdAtMs: 0, metadata }, input);
  assert.deepEqual(await findInFiles(directory, ['canary', 'said-', input[0]?.noise.slice(0, 24) ?? '']), []);

  const nowMs = 0;
  const sealed = await store.findSealedResponse({ userName: 'anna', id: 'resp_1', nowMs });
  const page = await store.listSealedItems({ userName: 'anna', id: 'conv_1', nowMs, limit: 1, order: 'asc', bytesMax: 1e9 });
  assert.ok(sealed !== undefined && typeof page === 'object');
  // From the middle of bodies that are spread over many pages.
  const pieces = [sealed.input, sealed.head, page.items[0]?.sealed].map((bytes) => Buffer.from(bytes ?? []).subarray(-64, -32));
  const longPieces = [20_000, 30_000].map((at) => Buffer.from(sealed.input).subarray(at, at + 24));
  assert.ok((await findInFiles(directory, [...pieces, ...longPieces])).length >= 5);
  await conversations.deleteResponse('anna', 'resp_1');
  await conversations.deleteConversation('anna', 'conv_1');
  await sweep();
  assert.deepEqual(await findInFiles(directory, [...pieces, ...longPieces]), []);
});

test('a body that was changed, moved to another user or sealed under another key is an error and never an answer', async (context) => {
  const path = join(await createDirectory(context), 'weir.sqlite');
  const store = await openSqliteStore({ path });
  context.after(() => store.close());
  const key = randomBytes(32);
  const { conversations } = setUpConversations(store, key);
  await conversations.saveResponse(createResponse('resp_1'));
  const sealed = await store.findSealedResponse({ userName: 'anna', id: 'resp_1', nowMs: 0 });
  assert.ok(sealed !== undefined);
  const damaged = new Uint8Array(sealed.input);
  damaged[40] = (damaged[40] ?? 0) ^ 1;
  const puts = [
    { ...sealed, id: 'damaged', input: damaged },
    { ...sealed, userName: 'bert' },
    { ...sealed, id: 'moved' },
    { ...sealed, id: 'swapped', input: sealed.output, output: sealed.input },
  ];
  await store.writeConversations(puts.map((response) => ({ type: 'put-response', response, items: [] })));
  for (const { userName, id } of puts) {
    await assert.rejects(conversations.readChain(userName, id), { code: 'responses_unavailable' }, id);
    await assert.rejects(conversations.findResponse(userName, id), { code: 'responses_unavailable' }, id);
  }
  await assert.rejects(setUpConversations(store).conversations.findResponse('anna', 'resp_1'), { code: 'responses_unavailable' });
  assert.equal((await setUpConversations(store, key).conversations.readChain('anna', 'resp_1'))?.length, 2);
});
