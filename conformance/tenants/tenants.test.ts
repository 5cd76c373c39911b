import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type OpenAI, toFile } from 'openai';

import { fileRoutes } from '../../src/gateway/endpoints/files/serve-files.ts';
import { endpoints } from '../../src/gateway/endpoints/registry.ts';
import { type ConversationsBench, startConversationsBench } from '../conversations/start-conversations-bench.ts';
import { call, eventually, post } from '../support/http.ts';
import { measureBest } from '../support/measure-best.ts';
import { openSocket } from '../websocket/open-socket.ts';
import { fill, type IdKind, type Ids, idsOf, type TenantRow, tenantRows } from './tenant-routes.ts';

/** An answer without the parts that differ from call to call. */
type Told = { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly text: string };

const model = 'gpt-4.1';
/** Models whose responses the upstream stores, and the gateway alone. */
const models = [model, 'claude-sonnet-4-5'];
const spent = ['remaining', 'reset'];

/** An id of the same length without an owner: an answer may repeat it. */
const unlike = (id: string): string => id.slice(0, -6) + (id.endsWith('zzzzzz') ? 'yyyyyy' : 'zzzzzz');
const each = (ids: Ids, change: (id: string) => string): Ids => ({
  response: change(ids.response),
  conversation: change(ids.conversation),
  item: change(ids.item),
  file: change(ids.file),
  store: change(ids.store),
  storeFile: change(ids.storeFile),
  batch: change(ids.batch),
  callback: change(ids.callback),
  video: change(ids.video),
  image: change(ids.image),
  receipt: change(ids.receipt),
});

/** Ids that no object ever had. */
const oddIds: Readonly<Record<string, string>> = {
  malformed: 'not an id',
  'another kind of': 'chatcmpl-123',
  'a very long': `resp_${'x'.repeat(3000)}`,
  'a NUL in the': 'resp_\0abc',
  quoted: `resp_' or 1=1 --"`,
  'a wildcard as': '%',
  'a path as': '../../etc/passwd',
  'another script in the': 'resp_ÿ日本\u202e',
};

describe('an object of one user does not exist for another, on every route', () => {
  let bench: ConversationsBench;
  let strangerKey: string;
  let owner: OpenAI;
  let mine: Ids;

  async function ask({ method, path, body }: TenantRow, ids: Ids, apiKey: string | undefined): Promise<Told> {
    const text = typeof body === 'object' ? JSON.stringify({ ...(path === '/responses' ? { model } : {}), ...body }) : undefined;
    const answer = await call(`${bench.weir.gatewayUrl}/v1${fill(path, ids, encodeURIComponent)}`, {
      method,
      headers: {
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(text === undefined ? {} : { body: fill(text, ids, (id) => JSON.stringify(id).slice(1, -1)) }),
    });
    const headers = Object.fromEntries(
      Object.entries(answer.headers).filter(
        ([name]) => !name.endsWith('request-id') && name !== 'date' && !spent.some((word) => name.includes(word)),
      ),
    );
    return { status: answer.status, headers, text: answer.text };
  }

  /** The answer as it would be for other ids. */
  function rename(text: string, from: Ids, to: Ids): string {
    let renamed = text;
    for (const kind of Object.keys(from) as IdKind[]) renamed = renamed.replaceAll(from[kind], to[kind]);
    return renamed;
  }

  async function createObjects(): Promise<Ids> {
    const conversation = await owner.conversations.create({ items: [{ role: 'user', content: 'secret' }] });
    const items = await owner.conversations.items.list(conversation.id);
    const response = await owner.responses.create({ model: models[1] ?? model, input: 'secret' });
    const file = await owner.files.create({ file: await toFile(Buffer.from('The secret word.'), 'a.txt'), purpose: 'assistants' });
    const store = await owner.vectorStores.create({ name: 'mine' });
    const batch = await owner.vectorStores.fileBatches.createAndPoll(store.id, { file_ids: [file.id] }, { pollIntervalMs: 50 });
    const item = items.data[0]?.id ?? '';
    return {
      response: response.id,
      conversation: conversation.id,
      item,
      file: file.id,
      store: store.id,
      storeFile: file.id,
      batch: batch.id,
      callback: await createCallback(),
      video: await createVideo(),
      image: await createImage(),
      receipt: await createReceipt(),
    };
  }

  async function createReceipt(): Promise<string> {
    const created = await owner.embeddings.create({ model: 'text-embedding-3-small', input: 'secret' }).withResponse();
    const id = created.response.headers.get('x-weir-request-id') ?? '';
    // Before it is in the ledger, its receipt still changes by itself.
    await eventually(
      () => owner.get<{ readonly booked: boolean }>(`/receipts/${id}`),
      ({ booked }) => booked,
    );
    return id;
  }

  async function createVideo(): Promise<string> {
    const created = await owner.videos.create({ model: 'vendor-imagine-video', prompt: 'secret', seconds: '4', size: '1280x720' });
    await eventually(
      () => owner.videos.retrieve(created.id),
      ({ status }) => status === 'completed',
      90_000,
    );
    return created.id;
  }

  async function createImage(): Promise<string> {
    const created = await owner.images.generate({ model: 'gpt-image-1.5', prompt: 'secret', response_format: 'url' });
    return /picture_\w+/.exec(created.data?.[0]?.url ?? '')?.[0] ?? assert.fail('no link');
  }

  /** An event that never occurs: no caller has this name. */
  async function createCallback(): Promise<string> {
    const headers = { authorization: `Bearer ${bench.weir.apiKey}` };
    const asked = { model, input: 'secret', background: true, callback_url: 'https://hooks.invalid/secret' };
    await post(`${bench.weir.gatewayUrl}/v1/responses`, asked, headers);
    const listed = await eventually(
      () => call(`${bench.weir.gatewayUrl}/v1/callbacks`, { headers }),
      ({ json }) => json.data.length > 0,
    );
    return listed.json.data[0].id;
  }

  /** The owner's complete view of the owner's objects. */
  async function look(): Promise<unknown> {
    return [
      await owner.responses.retrieve(mine.response),
      (await owner.responses.inputItems.list(mine.response)).data,
      await owner.conversations.retrieve(mine.conversation),
      (await owner.conversations.items.list(mine.conversation)).data,
      await owner.files.retrieve(mine.file),
      await (await owner.files.content(mine.file)).text(),
      { ...(await owner.vectorStores.retrieve(mine.store)), last_active_at: 0 },
      (await owner.vectorStores.files.list(mine.store)).data,
      await owner.vectorStores.fileBatches.retrieve(mine.batch, { vector_store_id: mine.store }),
      await owner.videos.retrieve(mine.video),
      (await owner.videos.list()).data.length,
      await owner.get(`/receipts/${mine.receipt}`),
    ];
  }

  before(async () => {
    bench = await startConversationsBench({
      models: { 'vendor-imagine-video': { targets: [{ upstream: 'xai', model: 'grok-imagine-video' }] } },
    });
    strangerKey = await bench.createKey('stranger', 'key');
    owner = bench.client(bench.weir.apiKey);
    mine = await createObjects();
  });
  after(() => bench[Symbol.asyncDispose]());

  test('every route that names an object has a row', () => {
    const named = endpoints
      .filter(({ name }) => !['generate-content', 'bedrock', 'vertex', 'models', 'files'].includes(name))
      .flatMap(({ routes }) => routes)
      .map(({ method, path }) => ({ method, path: path.replace(/^\/v1(?=\/)/, '') }));
    for (const { method, path } of [...named, ...fileRoutes].filter((each) => /[:*]/.test(each.path))) {
      assert.ok(
        tenantRows.some((row) => row.method === method && row.route === path),
        `${method} ${path} names an object and has no row in tenant-routes.ts`,
      );
    }
  });

  for (const row of tenantRows) {
    const failure = row.path.includes('{video}') ? 'F42: ' : '';
    const name = `${failure}${row.method} ${row.path} ${row.body === undefined ? '' : JSON.stringify(row.body)}`;
    test(name, async () => {
      const seen = await look();
      const unknown = each(mine, unlike);
      const foreign = await ask(row, mine, strangerKey);
      const absent = await ask(row, unknown, strangerKey);
      assert.ok(foreign.status === 404 || foreign.status === 400, `${foreign.status} ${foreign.text}`);
      assert.deepEqual({ ...foreign, text: rename(foreign.text, mine, unknown) }, absent);
      // An existing object below a missing one, and the reverse, has the same answer as two missing ones.
      for (const kind of idsOf(row)) {
        const mixed = { ...unknown, [kind]: mine[kind] };
        assert.deepEqual(await askRenamed(row, mixed, unknown), absent, `only the ${kind} exists`);
      }
      const anonymous = await ask(row, mine, undefined);
      // An image is only available by its link, not by a key: without the link it does not exist.
      assert.equal(anonymous.status, row.path.includes('{image}') ? 404 : 401);
      assert.deepEqual(anonymous, await ask(row, unknown, undefined));
      assert.deepEqual(await look(), seen, 'nothing has changed for the owner');
    });

    test(`odd ids have the same answer: ${name}`, async () => {
      for (const [what, id] of Object.entries(oddIds)) {
        const odd = await ask(
          row,
          each(mine, () => id),
          strangerKey,
        );
        assert.ok(odd.status >= 400 && odd.status < 500, `${what} id: ${odd.status} ${odd.text.slice(0, 300)}`);
        assert.ok(odd.text.length < 2000, `the answer to ${what} id repeats all of it`);
        assert.equal(typeof (JSON.parse(odd.text) as { error?: { message?: unknown } }).error?.message, 'string');
      }
    });
  }

  async function askRenamed(row: TenantRow, ids: Ids, to: Ids): Promise<Told> {
    const told = await ask(row, ids, strangerKey);
    return { ...told, text: rename(told.text, ids, to) };
  }

  test('the rules apply over a WebSocket', async () => {
    const unknown = each(mine, unlike);
    const socket = await openSocket(bench.weir.gatewayUrl, strangerKey);
    const refusal = async (ids: Ids, body: object): Promise<string> => {
      const text = fill(JSON.stringify({ model, input: 'go on', ...body }), ids, String);
      socket.create(JSON.parse(text) as object);
      const last = (await socket.rest()).at(-1);
      assert.equal(last?.type, 'error', JSON.stringify(last));
      return rename(JSON.stringify({ ...last, headers: {} }), ids, unknown);
    };
    for (const body of [
      { previous_response_id: '{response}' },
      { conversation: '{conversation}' },
      { input: [{ type: 'item_reference', id: '{item}' }] },
    ])
      assert.equal(await refusal(mine, body), await refusal(unknown, body));
    await socket.close();
  });

  test('a search tool finds nothing in another caller’s store', async () => {
    for (const name of models) {
      const answers: string[] = [];
      for (const ids of [mine, each(mine, unlike)]) {
        const tools = [{ type: 'file_search', vector_store_ids: [ids.store] }];
        const answer = await call(`${bench.weir.gatewayUrl}/v1/responses`, {
          headers: { authorization: `Bearer ${strangerKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: name, input: 'what is the secret word', tools }),
        });
        assert.ok(!answer.text.includes('The secret word'), answer.text);
        answers.push(`${answer.status} ${answer.status === 200 ? '' : rename(answer.text, ids, mine)}`);
      }
      assert.equal(answers[0], answers[1]);
    }
  });

  test('the duration of the answer reveals nothing', async () => {
    const unknown = each(mine, unlike);
    const [first] = tenantRows;
    assert.ok(first);
    const median = (list: number[]): number => list.toSorted((left, right) => left - right)[list.length / 2] ?? 0;
    const measure = async () => {
      const times: Record<'mine' | 'unknown', number[]> = { mine: [], unknown: [] };
      for (let round = 0; round < 60; round += 1) {
        for (const [kind, ids] of [
          ['mine', mine],
          ['unknown', unknown],
        ] as const) {
          const startedMs = performance.now();
          await ask(first, ids, strangerKey);
          times[kind].push(performance.now() - startedMs);
        }
      }
      return { foreign: median(times.mine), absent: median(times.unknown) };
    };
    const isAlike = ({ foreign, absent }: Awaited<ReturnType<typeof measure>>): boolean =>
      foreign < absent * 3 + 2 && absent < foreign * 3 + 2;
    const measured = await measureBest(measure, isAlike);
    assert.ok(isAlike(measured), `${measured.foreign} ms and ${measured.absent} ms`);
  });
});
