import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { type Ledger, openLedger } from '../support/read-ledger.ts';
import { type Answer, call, post, rawExchange } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { vendorUpstreams } from './benches.ts';
import { claudeHeaders } from './odd-requests.ts';

/** `/context` of Claude Code counts this many parts of the context at once. */
const burst = 26;

/**
 * Requests of programs besides generations: probes, lists, counters and a WebSocket. A failure of one must not stop or
 * delay a program.
 */
describe('calls of agent programs besides the conversation', () => {
  let running: SimulatedWeir;
  let ledger: Ledger;
  let anthropicKey: Record<string, string>;
  const gateway = (path: string): string => `${running.weir.gatewayUrl}${path}`;

  before(async () => {
    const own = { apiKey: upstreamKey };
    running = await startSimulatedGateway({
      models: Object.fromEntries(
        vendorUpstreams.map(({ name }) => [`${name}-*`, { targets: [{ upstream: name, model: `${name}-model` }] }]),
      ),
      upstreams: ({ openai }) => ({
        responses: { vendor: 'openai', baseUrl: openai, dialects: ['openai-responses'], ...own },
        chat: { vendor: 'openai-compatible', baseUrl: openai, ...own },
      }),
    });
    ledger = await openLedger(running.weir.dataDirectory);
    anthropicKey = { 'x-api-key': running.weir.apiKey, ...claudeHeaders };
  });
  after(async () => {
    await ledger.close();
    await running[Symbol.asyncDispose]();
  });

  test('the probe of Claude Code is answered without a key', async () => {
    for (const path of ['/api/hello', '/']) {
      const answer = await call(gateway(path), { method: 'HEAD' });
      assert.ok(answer.status === 200 || answer.status === 404, `${path}: ${answer.status}`);
      assert.equal(answer.text, '');
    }
  });

  test('the list of models has the format of the client that requests it', async () => {
    const claude = await call(gateway('/v1/models?limit=1000'), { headers: anthropicKey });
    assert.equal(claude.status, 200);
    assert.equal(claude.json.has_more, false);
    const [first] = claude.json.data;
    assert.deepEqual([first.type, typeof first.display_name], ['model', 'string']);
    const openai = await call(gateway('/v1/models?limit=1000'), { headers: { authorization: `Bearer ${running.weir.apiKey}` } });
    assert.equal(openai.json.object, 'list');
    assert.equal(openai.json.data[0].object, 'model');
    const gemini = await call(gateway('/v1beta/models?pageSize=1000'), { headers: { 'x-goog-api-key': running.weir.apiKey } });
    assert.match(gemini.json.models[0].name, /^models\//);
  });

  for (const { name, title, dialect } of vendorUpstreams) {
    test(`${burst} simultaneous counts on ${title} are all answered, and none is billed`, async () => {
      const before = await ledger.all();
      const count = (index: number): Promise<Answer> =>
        post(
          gateway('/v1/messages/count_tokens?beta=true'),
          {
            model: `${name}-counted`,
            system: [{ type: 'text', text: 'You are an agent.' }],
            messages: [{ role: 'user', content: `piece ${index} of the context` }],
            tools: [{ name: 'Read', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }],
          },
          { ...anthropicKey, 'anthropic-beta': 'claude-code-20250219,token-counting-2024-11-01' },
        );
      const answers = await Promise.all(Array.from({ length: burst }, (_, index) => count(index)));
      for (const answer of answers) {
        assert.equal(answer.status, 200, answer.text);
        assert.ok(Number.isInteger(answer.json.input_tokens) && answer.json.input_tokens > 0, answer.text);
        if (dialect !== 'anthropic-messages') assert.match(String(answer.headers['x-weir-token-count']), /^(?:upstream|estimate)/);
      }
      assert.deepEqual(await ledger.all(), before);
    });
  }

  test('a WebSocket on any path but Responses is refused at once, and the client is asked to use HTTP', async () => {
    const upgrade = [
      'GET /v1/chat/completions HTTP/1.1',
      'host: weir',
      `authorization: Bearer ${running.weir.apiKey}`,
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      'openai-beta: responses_websockets=2026-02-06',
    ].join('\r\n');
    const startedAtMs = performance.now();
    const text = await rawExchange(running.weir.gatewayUrl, `${upgrade}\r\n\r\n`);
    assert.match(text, /^HTTP\/1\.1 426 Upgrade Required\r\n/);
    assert.ok(performance.now() - startedAtMs < 15_000, 'it is closed without waiting');
  });

  const thread = { type: 'create' } as const;
  const continued = { type: 'continue', previous_message_id: 'msg_01' } as const;
  const ask = (model: string, more: object): Promise<Answer> =>
    post(
      gateway('/v1/messages?beta=true'),
      { model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...more },
      { ...anthropicKey, 'anthropic-beta': 'message-threads-2026-08-12' },
    );
  for (const { name, title, dialect } of vendorUpstreams) {
    if (dialect === 'anthropic-messages') continue;
    for (const asked of [thread, continued]) {
      test(`a thread request of ${asked.type} on ${title} is refused in a form after which the SDK continues without threads`, async () => {
        const answer = await ask(`${name}-threads`, { thread: asked });
        assert.equal(answer.status, 400);
        assert.equal(answer.json.error.type, 'invalid_request_error');
        // The thread is unknown here and is not found. After either answer the SDK sends the whole conversation.
        const word = asked.type === 'create' ? 'thread_unsupported_request' : 'thread_not_found';
        assert.equal(answer.json.error.details.error_code, word);
      });
    }
  }

  test('a thread of the vendor that stores threads is passed on', async () => {
    const created = await ask('anthropic-threads', { thread });
    assert.equal(created.status, 200, created.text);
    const again = await ask('anthropic-threads', { thread: { ...continued, previous_message_id: created.json.id } });
    assert.equal(again.status, 200, again.text);
  });

  test('an unknown model is a 404 in the format of the interface', async () => {
    const answer = await post(
      gateway('/v1beta/models/model-of-tomorrow:generateContent'),
      { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
      { 'x-goog-api-key': running.weir.apiKey },
    );
    assert.deepEqual([answer.status, answer.json.error.status], [404, 'NOT_FOUND']);
  });
});
