import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { EncodedRequest } from '../../../../dialects/chat-codec.ts';
import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { createTranslationNotes } from '../../../../inference/translation-notes.ts';
import type { VaultedTurn } from '../proofs/vaulted-turn.ts';
import { createFakeExchange } from '../../../attempts/exchange/testing/fake-exchange.ts';
import { UpstreamExchange } from '../../../attempts/exchange/upstream-exchange.ts';
import { createByteForm } from '../reply-form.ts';
import { createTranslateRelay } from './translate-relay.ts';
import type { Translation } from './prepare-translation.ts';

type Route = {
  readonly client: DialectId;
  readonly upstream: DialectId;
  readonly stream?: boolean;
  readonly encoded?: Partial<EncodedRequest>;
};

/** An exchange between two dialects, up to the moment at which the upstream answers. */
function start({ client: clientId, upstream: upstreamId, stream = true, encoded }: Route) {
  const client = chatDialects[clientId];
  const upstream = chatDialects[upstreamId];
  const framing = stream ? ('sse' as const) : undefined;
  const fake = createFakeExchange({ dialect: client, framing, apiKey: 'sk-operator-secret' });
  const remembered: VaultedTurn[] = [];
  const notes = createTranslationNotes(client.codec.fieldNames, false);
  notes.dropped('topK', 'no such field');
  let ids = 0;
  const newId = (prefix: string): string => `${prefix}_${++ids}`;
  const translation: Translation = {
    client,
    upstream,
    encoded: { body: {}, ...encoded },
    reading: { proofOrigin: upstreamId, newId, notes },
    writing: {
      requestId: 'req_1',
      requestedModel: 'm',
      request: {},
      createdAtMs: 1000,
      nowMs: () => 3000,
      inputTokensEstimate: 5,
      newId,
      notes,
    },
    correctUsage: (report) => report,
    notes,
    replyNotes: notes,
    framing,
    rememberProofs: (turn) => void remembered.push(turn),
  };
  const relay = createTranslateRelay(translation, createByteForm(client, 'sse'));
  const exchange = new UpstreamExchange({ ...fake.context, relay });
  exchange.start({ path: '/', method: 'POST', headers: {}, body: Buffer.alloc(0) });
  const { controller } = fake;
  exchange.onRequestStart(controller);
  return {
    ...fake,
    remembered,
    answer: (status: number, headers: Record<string, string>) => exchange.onResponseStart(controller, status, headers),
    send: (text: string) => exchange.onResponseData(controller, Buffer.from(text)),
    end: () => exchange.onResponseEnd(),
    answerStream: () => exchange.onResponseStart(controller, 200, { 'content-type': 'text/event-stream' }),
  };
}

const generated = (part: object, more: object = {}): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] }, ...more }], modelVersion: 'g', usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 } })}\r\n\r\n`;
const chunk = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', model: 'x', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
const types = (text: string): readonly string[] => [...text.matchAll(/^event: (.*)$/gm)].map(([, type = '']) => type);

describe('a translated stream', () => {
  test('a translated stream is written as it arrives, is settled before its end is written, and ends once', () => {
    const call = start({ client: 'anthropic-messages', upstream: 'openai-chat' });
    call.answerStream();
    call.send(chunk('Hel'));
    assert.match(call.response.text(), /"text":"Hel"/);
    call.send(chunk('lo', 'stop'));
    call.send('data: [DONE]\n\n');
    call.end();
    assert.deepEqual(types(call.response.text()), [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    assert.equal(call.outcomes.length, 1);
    assert.deepEqual([call.outcomes[0]?.end, call.outcomes[0]?.complete], ['finished', true]);
    assert.ok(call.happened.indexOf('settled finished') < call.happened.lastIndexOf('bytes'));
  });

  test('a translated stream reports the losses of the request first, and passes no headers of the vendor', () => {
    const call = start({ client: 'anthropic-messages', upstream: 'openai-chat' });
    call.answer(200, { 'content-type': 'text/event-stream', 'x-ratelimit-remaining-requests': '3', 'x-request-id': 'theirs' });
    call.send(chunk('hi'));
    assert.equal(call.response.headers['x-gateway-warning'], 'dropped top_k (no such field)');
    assert.equal(call.response.headers['request-id'], 'req_1');
    assert.equal(call.response.headers['x-ratelimit-remaining-requests'], undefined);
  });

  test('a stream that fails before any content is an HTTP status in the client’s dialect', () => {
    const call = start({ client: 'anthropic-messages', upstream: 'openai-chat' });
    call.answerStream();
    call.send(`data: ${JSON.stringify({ error: { message: 'slow down sk-operator-secret', code: 429 } })}\n\n`);
    assert.equal(call.response.status, 429);
    assert.match(call.response.text(), /"rate_limit_error"/);
    assert.doesNotMatch(call.response.text(), /sk-operator-secret/);
    assert.equal(call.outcomes[0]?.end, 'failed');
  });

  test('a stream that fails after content ends in the client’s error event, and the content is charged', () => {
    const call = start({ client: 'openai-responses', upstream: 'anthropic-messages' });
    call.answerStream();
    const event = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
      `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
    call.send(event({ type: 'message_start', message: { id: 'm', model: 'c', usage: { input_tokens: 7, output_tokens: 1 } } }));
    call.send(event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }));
    call.send(event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } }));
    call.send(event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }));
    const seen = types(call.response.text());
    assert.deepEqual(seen.slice(-2), ['error', 'response.failed']);
    assert.ok(!seen.includes('response.completed'));
    const numbers = [...call.response.text().matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    assert.deepEqual(
      numbers,
      numbers.map((_, at) => at),
      'the numbering continues',
    );
    assert.equal(call.outcomes[0]?.end, 'cut');
  });

  test('a stream that is cut never looks complete', () => {
    for (const client of ['anthropic-messages', 'openai-responses', 'gemini-generate-content'] as const) {
      const call = start({ client, upstream: 'openai-chat' });
      call.answerStream();
      call.send(chunk('Hel'));
      call.end();
      assert.doesNotMatch(call.response.text(), /message_stop|response\.completed|finishReason/);
      assert.match(call.response.text(), /terminated early/);
      assert.equal(call.outcomes[0]?.end, 'cut');
    }
  });

  test('a generation that the vendor gave up is an error if the client’s dialect cannot express it', () => {
    const odd = generated({ text: 'Let me' }) + generated({ text: ' see' }, { finishReason: 'MALFORMED_FUNCTION_CALL' });
    const messages = start({ client: 'anthropic-messages', upstream: 'gemini-generate-content' });
    messages.answerStream();
    messages.send(odd);
    messages.end();
    assert.deepEqual(types(messages.response.text()).slice(-1), ['error']);
    const responses = start({ client: 'openai-responses', upstream: 'gemini-generate-content' });
    responses.answerStream();
    responses.send(odd);
    responses.end();
    assert.deepEqual(types(responses.response.text()).slice(-1), ['response.failed']);
  });

  test('a stream with an unreadable event does not look complete, because text is missing', () => {
    const call = start({ client: 'anthropic-messages', upstream: 'openai-chat' });
    call.answerStream();
    call.send(chunk('Hel'));
    call.send('data: {"choices":[{"delta":{"content":"lo\n\n');
    call.send(chunk('!', 'stop'));
    call.send('data: [DONE]\n\n');
    call.end();
    assert.deepEqual(types(call.response.text()).slice(-1), ['error']);
    assert.match(call.response.text(), /connection error: 1 events of the stream could not be read/);
    assert.equal(call.outcomes[0]?.end, 'cut');
  });

  test('a stream ends at a stop sequence that the upstream does not support, and the upstream is stopped', () => {
    const call = start({ client: 'anthropic-messages', upstream: 'openai-chat', encoded: { cutAt: ['END'] } });
    call.answerStream();
    call.send(chunk('one E'));
    call.send(chunk('ND two'));
    assert.equal(call.controller.aborted, true);
    assert.match(call.response.text(), /"stop_reason":"stop_sequence","stop_sequence":"END"/);
    assert.doesNotMatch(call.response.text(), /two/);
    assert.deepEqual([call.outcomes[0]?.end, call.outcomes[0]?.complete], ['finished', false]);
    assert.equal(call.response.writableEnded, true);
  });

  test('the proofs of a turn with calls are kept before the client receives its end', () => {
    const call = start({ client: 'openai-chat', upstream: 'gemini-generate-content' });
    call.answerStream();
    call.send(generated({ functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' }));
    call.send(generated({ text: '' }, { finishReason: 'STOP' }));
    call.end();
    const [turn] = call.remembered;
    assert.equal(turn?.callIds.length, 1);
    assert.deepEqual([...(turn?.callProofs.values() ?? [])], [{ origin: 'gemini-generate-content', blob: 'c2ln' }]);
    assert.match(call.response.text(), new RegExp(turn?.callIds[0] ?? 'none'));
  });
});

describe('a translated whole reply', () => {
  const whole = JSON.stringify({
    id: 'c',
    model: 'x',
    choices: [{ index: 0, message: { role: 'assistant', content: 'one END two' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  });

  test('a whole reply is cut at a stop sequence, and its usage is what the upstream used', () => {
    const call = start({ client: 'anthropic-messages', upstream: 'openai-chat', stream: false, encoded: { cutAt: ['END'] } });
    call.answer(200, { 'content-type': 'application/json' });
    call.send(whole);
    call.end();
    const reply = JSON.parse(call.response.text()) as Record<string, unknown>;
    assert.deepEqual([reply.content, reply.stop_sequence], [[{ type: 'text', text: 'one ' }], 'END']);
    assert.equal(call.outcomes[0]?.report?.usageReport?.usage.outputTokens, 3);
  });

  test('a whole reply becomes a stream for a client that asked for one', () => {
    const call = start({ client: 'anthropic-messages', upstream: 'openai-chat' });
    call.answer(200, { 'content-type': 'application/json' });
    call.send(whole);
    call.end();
    assert.match(call.response.headers['content-type'] ?? '', /text\/event-stream/);
    assert.deepEqual(types(call.response.text()).slice(-1), ['message_stop']);
  });

  test('a whole reply that contains an error is an error', () => {
    const call = start({ client: 'gemini-generate-content', upstream: 'openai-chat', stream: false });
    call.answer(200, { 'content-type': 'application/json' });
    call.send(JSON.stringify({ error: { message: 'no', code: 503 } }));
    call.end();
    assert.equal(call.response.status, 503);
    assert.match(call.response.text(), /UNAVAILABLE/);
  });

  test('an error of the upstream keeps its class and its retry advice', () => {
    const call = start({ client: 'gemini-generate-content', upstream: 'anthropic-messages', stream: false });
    call.answer(429, { 'content-type': 'application/json', 'retry-after': '7' });
    call.send(JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: 'too fast' } }));
    call.end();
    assert.deepEqual([call.response.status, call.response.headers['retry-after']], [429, '7']);
    assert.match(call.response.text(), /RESOURCE_EXHAUSTED/);
  });
});
