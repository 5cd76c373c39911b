import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { loadShippedPriceBook } from '../../src/billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../src/billing/rating/price-book.ts';
import type { Receipt } from '../../src/billing/receipts/receipt.ts';
import { verifyReceiptText } from '../../src/billing/receipts/verify-receipt.ts';
import { assertDescribed } from '../gateway/described-answers.ts';
import { runCommand } from '../programs/run-command.ts';
import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { type Answer, call, eventually, post } from '../support/http.ts';
import { arrayInterface, chatInterfaces } from '../support/interfaces.ts';
import { openCall } from '../support/open-call.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';

const book = createPriceBook({ book: loadShippedPriceBook() });

describe('every call has a receipt as soon as it has ended', () => {
  let running: SimulatedWeir;
  let ledger: Ledger;
  let stranger: string;
  before(async () => {
    running = await startSimulatedGateway({
      runsTools: true,
      config: { tags: { fromMetadata: { project: 'project_id' } } },
      retries: { attemptsMax: 3 },
      upstreams: () => ({ broken: { vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } }),
      models: {
        second: {
          targets: [
            { upstream: 'broken', model: 'gpt-4.1' },
            { upstream: 'openai', model: 'gpt-4.1' },
          ],
        },
      },
    });
    ledger = await openLedger(running.weir.dataDirectory);
    stranger = (await command('keys', 'create', '--user', 'stranger', '--name', 'other')).stdout.trim();
  });
  after(async () => {
    await ledger.close();
    await running[Symbol.asyncDispose]();
  });

  const command = (...words: readonly string[]) => runCommand(words, { WEIR_DATA_DIR: running.weir.dataDirectory });
  const ask = (path: string, key = running.weir.apiKey): Promise<Answer> =>
    call(`${running.weir.gatewayUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const send = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    post(`${running.weir.gatewayUrl}${path}`, body, { authorization: `Bearer ${running.weir.apiKey}`, ...headers });

  /** The receipt that a reply links to, which must be correct and match the ledger. */
  async function receiptOf(reply: Pick<Answer, 'status' | 'headers'> & { readonly text: string }, what: string): Promise<Receipt> {
    assert.equal(reply.status, 200, `${what}: ${reply.text.slice(0, 300)}`);
    const path = String(reply.headers['x-weir-receipt']);
    assert.equal(path, `/v1/receipts/${String(reply.headers['x-weir-request-id'])}`, what);
    const answer = await ask(path);
    assertDescribed('GET', '/v1/receipts/{id}', answer);
    assert.equal(answer.status, 200, `${what}: ${answer.text}`);
    await compareWithLedger(answer.json, what);
    return answer.json;
  }

  async function compareWithLedger(receipt: Receipt, what: string): Promise<void> {
    const { problems, rerated } = verifyReceiptText(JSON.stringify(receipt), [book]);
    assert.deepEqual([problems, rerated], [[], receipt.rows.length], what);
    const rows = await ledger.rows(receipt.request_id, receipt.rows.length);
    assert.deepEqual(
      receipt.rows.map(({ id, amount }) => [id, amount.nano_usd]),
      rows.map(({ callId, charge }) => [callId, charge.amountNanoUsd.toString()]),
      what,
    );
    assert.equal(
      BigInt(receipt.total.nano_usd),
      rows.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n),
      what,
    );
  }

  test('in every interface, whole and streamed, the receipt exists as soon as the last byte has arrived', async () => {
    for (const api of [...chatInterfaces, arrayInterface])
      for (const stream of api === arrayInterface ? [true] : [false, true]) {
        const what = `${api.dialect}${stream ? ', stream' : ''}`;
        const reply = await openCall(`${running.weir.gatewayUrl}${api.path(api.model, stream)}`, {
          headers: { authorization: `Bearer ${running.weir.apiKey}`, ...api.headers },
          body: JSON.stringify(api.body(api.model, 'hello', stream)),
          limitMs: 20_000,
        }).done;
        const receipt = await receiptOf(reply, what);
        assert.deepEqual([receipt.dialect, receipt.stream, receipt.end, receipt.estimated], [api.dialect, stream, 'finished', false], what);
        assert.ok(BigInt(receipt.total.nano_usd) > 0n, what);
        assert.notEqual(receipt.rows[0]?.usage_reported, null, what);
      }
  });

  test('the receipt of a translated call lists its adaptations, and that of a retried call lists its attempts', async () => {
    const body = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'hello' }], seed: 7 };
    const translated = await receiptOf(await send('/v1/chat/completions', body), 'translated');
    assert.equal(translated.rows[0]?.upstream_dialect, 'anthropic-messages');
    assert.ok(translated.rows[0].notes.request.some(({ field }) => field === 'seed'));
    const tried = await receiptOf(await send('/v1/chat/completions', { ...body, model: 'second' }), 'tried');
    assert.deepEqual(
      tried.rows.map(({ upstream, attempts }) => [upstream, attempts.map((attempt) => attempt.upstream)]),
      [['openai', ['broken']]],
    );
    const counting = { model: 'claude-sonnet-4-5', messages: body.messages };
    const counted = await send('/v1/messages/count_tokens', counting, { 'anthropic-version': '2023-06-01' });
    assert.equal(counted.headers['x-weir-receipt'], undefined, 'a free request has no receipt');
  });

  test('rounds and tools of the gateway are rows of one receipt', async () => {
    const body = { model: 'gpt-4.1', input: 'Search the web for cats', tools: [{ type: 'web_search' }] };
    const receipt = await receiptOf(await send('/v1/responses', body), 'tools');
    assert.deepEqual(
      receipt.rows.map(({ id, kind }) => [id.slice(receipt.request_id.length), kind]),
      [
        ['', 'call'],
        ['.1.tools', 'tools'],
        ['.2', 'part'],
      ],
    );
  });

  test('speech, transcripts and embeddings have receipts', async () => {
    const speech = await send('/v1/audio/speech', { model: 'tts-1', voice: 'nova', input: 'Hello there.', response_format: 'wav' });
    assert.equal((await receiptOf(speech, 'speech')).rows[0]?.lines[0]?.meter, 'characters');
    const embedded = await send('/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' });
    await receiptOf(embedded, 'embeddings');
  });

  test('tags of header, metadata and key are on the receipts of all interfaces, the key first', async () => {
    const created = await command('keys', 'create', '--user', 'tagged', '--name', 'ci', '--tags', 'env=prod');
    await command('teams', 'create', 'tag-team');
    await command('teams', 'add', 'tag-team', 'tagged');
    const key = created.stdout.trim();
    const headers = { authorization: `Bearer ${key}`, 'x-weir-tags': 'env=dev, feature=chat' };
    const own = async (reply: Answer): Promise<Receipt> => (await ask(String(reply.headers['x-weir-receipt']), key)).json;
    const embed = { model: 'text-embedding-3-small', input: 'x' };
    const first = await eventually(
      async () => own(await send('/v1/embeddings', embed, { authorization: `Bearer ${key}` })),
      (receipt) => receipt.team !== undefined,
    );
    assert.deepEqual([first.tags, first.team?.name], [{ env: 'prod' }, 'tag-team']);
    for (const api of chatInterfaces) {
      const { dialect } = api;
      // Messages has no other member in its metadata than user_id, and this vendor refuses labels.
      const hasMetadata = dialect !== 'anthropic-messages' && dialect !== 'gemini-generate-content';
      const named = hasMetadata ? { metadata: { project_id: 'web' } } : {};
      const reply = await send(api.path(api.model), { ...api.body(api.model, 'hello'), ...named }, { ...api.headers, ...headers });
      assert.equal(reply.status, 200, reply.text);
      const project = hasMetadata ? { project: 'web' } : {};
      assert.deepEqual((await own(reply)).tags, { env: 'prod', feature: 'chat', ...project }, dialect);
      const refused = await send(api.path(api.model), api.body(api.model, 'hello'), {
        ...api.headers,
        ...headers,
        'x-weir-tags': 'feature',
      });
      assert.equal(refused.status, 400, dialect);
      assert.match(refused.text, /x-weir-tags: .*is not a tag/, dialect);
      assert.ok(api.errorType(refused.json), dialect);
    }
    const speech = { model: 'tts-1', voice: 'nova', input: 'Hello there.', response_format: 'wav' };
    assert.deepEqual((await own(await send('/v1/audio/speech', speech, headers))).tags, { env: 'prod', feature: 'chat' });
    const video = { model: 'grok-imagine-video', prompt: 'a red kite', duration: 2, metadata: { project_id: 'film' } };
    const made = await send('/v1/video/generations', video, headers);
    const { json: videoReceipt } = await eventually(
      () => ask(`/v1/receipts/${String(made.headers['x-weir-request-id'])}`, key),
      ({ status }) => status === 200,
    );
    assert.deepEqual([videoReceipt.tags, videoReceipt.team?.name], [{ env: 'prod', feature: 'chat', project: 'film' }, 'tag-team']);
    const tools = { model: 'gpt-4.1', input: 'Search the web for cats', tools: [{ type: 'web_search' }], metadata: { project_id: 'web' } };
    const looped = await own(await send('/v1/responses', tools, headers));
    assert.equal(looped.rows.length, 3);
    for (const { callId, tags } of await ledger.rows(looped.request_id, 3)) assert.equal(tags, 'env=prod,feature=chat,project=web', callId);
  });

  test('a video links to its own receipt, which ends with this form', async () => {
    const body = { model: 'grok-imagine-video', prompt: 'a red kite', duration: 2 };
    // It is generated for as long as the test wants.
    const created = await send('/v1/video/generations', body, { 'x-simulator-video': 'end=never' });
    const path = String(created.headers['x-weir-receipt']);
    assert.equal(path, `/v1/videos/${created.json.id}/receipt`);
    for (const id of [created.json.id, created.headers['x-weir-request-id']]) {
      const making = await ask(`/v1/receipts/${String(id)}`);
      const request_id = created.headers['x-weir-request-id'];
      assert.deepEqual([making.status, making.json], [202, { object: 'receipt', request_id, status: 'in_progress' }]);
      assertDescribed('GET', '/v1/receipts/{id}', making);
      assert.equal((await ask(`/v1/receipts/${String(id)}`, stranger)).status, 404);
    }
    const job = running.simulator.videos().at(-1)?.['id'];
    assert.ok(typeof job === 'string');
    const changed = await post(`${running.simulator.controlUrl}/videos/${job}`, { video: 'end=done;ms=0' });
    assert.equal(changed.status, 200, changed.text);
    const { json } = await eventually(
      () => ask(path),
      (answer) => answer.json.receipt !== null,
    );
    await compareWithLedger(json.receipt, 'video');
    for (const id of [json.request_id, json.id]) assert.deepEqual((await ask(`/v1/receipts/${id}`)).json, json.receipt);
  });

  test('a call is found by the id in the body of its reply, and only by its user', async () => {
    const message = { messages: [{ role: 'user', content: 'hello' }] };
    const streamed = await send('/v1/responses', { model: 'claude-sonnet-4-5', input: 'hello', stream: true });
    const replies: readonly (readonly [string, Answer, string])[] = await Promise.all(
      (
        [
          ['stored by its upstream', '/v1/responses', { model: 'gpt-4.1', input: 'hello' }],
          ['translated', '/v1/responses', { model: 'claude-sonnet-4-5', input: 'hello' }],
          ['with tools', '/v1/responses', { model: 'gpt-4.1', input: 'Search the web for cats', tools: [{ type: 'web_search' }] }],
          ['a message', '/v1/messages', { model: 'gpt-4.1', max_tokens: 100, ...message }],
        ] as const
      ).map(async ([what, path, body]) => {
        const reply = await send(path, body, { 'anthropic-version': '2023-06-01' });
        return [what, reply, String(reply.json.id)] as const;
      }),
    );
    const found = /"id":"(resp_\w+)"/.exec(streamed.text)?.[1] ?? '';
    for (const [what, reply, id] of [...replies, ['streamed', streamed, found] as const]) {
      assert.match(id, /^(?:resp|msg)_/, what);
      const callId = String(reply.headers['x-weir-request-id']);
      const { json } = await ask(`/v1/receipts/${callId}`);
      await ledger.rows(callId, json.rows.length);
      const byCall = await ask(`/v1/receipts/${callId}`);
      assert.equal(byCall.json.request_id, callId, what);
      assert.equal((await ask(`/v1/receipts/${id}`)).text, byCall.text, what);
      const none = `${id.slice(0, -4)}${id.endsWith('zzzz') ? 'yyyy' : 'zzzz'}`;
      const [foreign, absent] = [await ask(`/v1/receipts/${id}`, stranger), await ask(`/v1/receipts/${none}`, stranger)];
      assert.deepEqual([foreign.status, foreign.text.replaceAll(id, none)], [404, absent.text], what);
      const { stdout } = await command('receipt', id, '--json');
      assert.equal(JSON.parse(stdout).request_id, callId, what);
    }
  });

  test("another user's receipt, and every invalid id, is answered like one that does not exist", async () => {
    const reply = await send('/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' });
    const id = String(reply.headers['x-weir-request-id']);
    const none = `${id.slice(0, -4)}${id.endsWith('zzzz') ? 'yyyy' : 'zzzz'}`;
    const [foreign, absent] = [await ask(`/v1/receipts/${id}`, stranger), await ask(`/v1/receipts/${none}`, stranger)];
    assert.deepEqual([foreign.status, foreign.text.replaceAll(id, none)], [404, absent.text]);
    assertDescribed('GET', '/v1/receipts/{id}', absent);
    for (const odd of ['.', `${id}.2`, '%2e%2e', "' or 1=1", 'x'.repeat(500)])
      assert.equal((await ask(`/v1/receipts/${encodeURIComponent(odd)}`)).status, 404, odd);
    assert.equal((await call(`${running.weir.gatewayUrl}/v1/receipts/${id}`)).status, 401);
  });

  test('a call that runs is in progress for its user, and does not exist for others', async () => {
    const open = openCall(`${running.weir.gatewayUrl}/v1/messages`, {
      headers: {
        authorization: `Bearer ${running.weir.apiKey}`,
        'anthropic-version': '2023-06-01',
        'x-simulator-pace': 'tokensPerSecond=20',
        'x-simulator-output-tokens': '2000',
      },
      body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 3000, stream: true, messages: [{ role: 'user', content: 'hello' }] }),
      limitMs: 60_000,
    });
    const path = String((await open.head).headers['x-weir-receipt']);
    const waiting = await ask(path);
    assert.deepEqual([waiting.status, waiting.json.status], [202, 'in_progress']);
    assertDescribed('GET', '/v1/receipts/{id}', waiting);
    assert.equal((await ask(path, stranger)).status, 404);
    open.leave('rst');
    const { json } = await eventually(
      () => ask(path),
      ({ status }) => status === 200,
      20_000,
    );
    assert.deepEqual([json.end, json.estimated, json.rows[0].estimate_reason], ['client-left', true, 'reply_broken_off']);
    await compareWithLedger(json, 'left');
  });

  test('reading receipts does not change the books', async () => {
    const rows = await ledger.all();
    const told = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask(`/v1/receipts/${rows[index % rows.length]?.callId ?? ''}`)),
    );
    assert.ok(told.some(({ status }) => status === 200));
    assert.deepEqual(await ledger.all(), rows);
  });

  test('weir receipt prints the same', async () => {
    const { callId } = (await ledger.all()).findLast(({ parentCallId }) => parentCallId === undefined) ?? { callId: '' };
    const { stdout } = await command('receipt', callId, '--json');
    assert.deepEqual(JSON.parse(stdout), (await ask(`/v1/receipts/${callId}`)).json);
  });
});
