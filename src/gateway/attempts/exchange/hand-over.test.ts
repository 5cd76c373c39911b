import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { DialectId } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { createFakeExchange, type FakeExchange, type FakeExchangeOptions } from './testing/fake-exchange.ts';
import { UpstreamExchange } from './upstream-exchange.ts';

const sse = (...events: readonly object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

/** The opening of a stream without content, and its first event with content. */
const streams: Readonly<Record<DialectId, { readonly opening: string; readonly content: string; readonly error: string }>> = {
  'anthropic-messages': {
    opening:
      sse({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } }, { type: 'ping' }) +
      sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    content: sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } }),
    error: sse({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }),
  },
  'openai-responses': {
    opening:
      sse({ type: 'response.created', response: { id: 'r' } }, { type: 'response.in_progress', response: { id: 'r' } }) +
      sse({ type: 'response.output_item.added', output_index: 0, item: { type: 'message', content: [] } }) +
      sse({ type: 'response.content_part.added', part: { type: 'output_text', text: '' } }),
    content: sse({ type: 'response.output_text.delta', delta: 'hi' }),
    error: sse({ type: 'error', code: 'server_error', message: 'busy' }),
  },
  'openai-chat': {
    opening: sse({ choices: [{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, finish_reason: null }] }),
    content: sse({ choices: [{ index: 0, delta: { content: 'hi' } }] }),
    error: sse({ error: { message: 'busy', code: 503 } }),
  },
  'gemini-generate-content': {
    opening: sse({ usageMetadata: { promptTokenCount: 3 }, modelVersion: 'm' }),
    content: sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] } }] }),
    error: sse({ error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }),
  },
};

/** Tools that the vendor runs are visible to the client, so they are content. */
const toolsAtWork: Readonly<Partial<Record<DialectId, string>>> = {
  'anthropic-messages': sse({ type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', name: 'web_search' } }),
  'openai-responses': sse({ type: 'response.web_search_call.searching', item_id: 'w' }),
};

type Started = FakeExchange & {
  readonly exchange: UpstreamExchange;
  readonly answer: (status: number, type?: string) => void;
  readonly data: (text: string) => void;
};

function start(options: FakeExchangeOptions): Started {
  const fake = createFakeExchange({ takesOver: true, ...options });
  const exchange = new UpstreamExchange(fake.context);
  exchange.start({ path: '/x', method: 'POST', headers: {}, body: undefined });
  exchange.onRequestStart(fake.controller);
  return {
    ...fake,
    exchange,
    answer: (status, type = 'text/event-stream') => exchange.onResponseStart(fake.controller, status, { 'content-type': type }),
    data: (text) => exchange.onResponseData(fake.controller, Buffer.from(text)),
  };
}

function assertUntouched(call: Started, code: string): void {
  assert.deepEqual(
    call.handedOver.map(({ error }) => error.code),
    [code],
  );
  assert.equal(call.outcomes.length, 0, 'the call is not settled by an attempt that another follows');
  assert.equal(call.response.headersSent, false);
  assert.equal(call.response.writableEnded, false);
}

const cut = Object.assign(new Error('cut'), { code: 'ECONNRESET' });

for (const [id, { opening, content, error }] of Object.entries(streams)) {
  const dialect = chatDialects[id as DialectId];
  describe(`${dialect.title}: before the first content another attempt can follow`, () => {
    test('opening frames are held, and pass before the first content', () => {
      const call = start({ dialect, framing: 'sse' });
      call.answer(200);
      call.data(opening);
      assert.equal(call.response.headersSent, false);
      call.data(content);
      assert.equal(call.response.text(), opening + content);
    });

    test('F66: a stream that fails after its opening frames shows the client nothing', () => {
      for (const broken of [
        (call: Started) => call.exchange.onResponseError(call.controller, cut),
        (call: Started) => call.exchange.onResponseEnd(),
        (call: Started) => call.exchange.check(call.advance(125_000)),
      ]) {
        const call = start({ dialect, framing: 'sse' });
        call.answer(200);
        call.data(opening);
        broken(call);
        assertUntouched(call, call.handedOver[0]?.error.code ?? 'none');
        assert.match(call.handedOver[0]?.error.code ?? '', /upstream_(?:connection_error|timeout)/);
      }
    });

    test('an error event before content is a failed attempt, and its upstream is stopped', () => {
      const call = start({ dialect, framing: 'sse' });
      call.answer(200);
      call.data(opening + error);
      assert.equal(call.handedOver.length, 1);
      assert.equal(call.outcomes.length, 0);
      assert.equal(call.response.headersSent, false);
      assert.equal(call.controller.aborted, true);
      call.handedOver[0]?.answer();
      assert.equal(call.outcomes[0]?.end, 'failed');
      assert.match(call.response.text(), /busy/);
      assert.equal(call.response.writableEnded, true);
    });

    test('F41: after content no call is handed over, whatever happens', () => {
      for (const broken of [
        (call: Started) => call.exchange.onResponseError(call.controller, cut),
        (call: Started) => call.exchange.onResponseEnd(),
        (call: Started) => call.data(error),
        (call: Started) => call.exchange.check(call.advance(125_000)),
        (call: Started) => call.exchange.terminate(new GatewayError('shutting_down', 'stop')),
      ]) {
        const call = start({ dialect, framing: 'sse' });
        call.answer(200);
        call.data(opening + content);
        broken(call);
        assert.deepEqual(call.handedOver, []);
        assert.equal(call.outcomes[0]?.end, 'cut');
      }
    });

    const tool = toolsAtWork[id as DialectId];
    test('a running tool is content', { skip: tool === undefined && 'this dialect has no such event' }, () => {
      const call = start({ dialect, framing: 'sse' });
      call.answer(200);
      call.data(opening + (tool ?? ''));
      assert.equal(call.response.text(), opening + (tool ?? ''));
    });

    test('refusals of the upstream are offered with their status and headers, whole and streamed', () => {
      for (const framing of ['sse', undefined] as const) {
        for (const status of [429, 500, 503, 529, 400]) {
          const call = start({ dialect, framing });
          call.answer(status, 'application/json');
          call.data('{"error":{"message":"no"}}');
          call.exchange.onResponseEnd();
          assertUntouched(call, 'upstream_error');
          assert.equal(call.handedOver[0]?.upstreamStatus, status);
          call.handedOver[0]?.answer();
          assert.equal(call.response.status, status, "answered after all, it is the upstream's own answer");
          assert.equal(call.response.text(), '{"error":{"message":"no"}}');
        }
      }
    });

    test('an answer with a better reason is worded in the dialect', () => {
      const call = start({ dialect });
      call.answer(400, 'application/json');
      call.data('{"error":{"message":"no"}}');
      call.exchange.onResponseEnd();
      call.handedOver[0]?.answer(new GatewayError('upstream_overloaded', 'the first was busy'));
      assert.match(call.response.text(), /the first was busy/);
      assert.equal(call.outcomes[0]?.error?.code, 'upstream_overloaded');
    });
  });
}

describe('an attempt without an answer is offered', () => {
  const dialect = chatDialects['openai-chat'];

  test('no connection, a closed one, silence, an HTML page: each is offered and nothing is written', () => {
    const failures: readonly (readonly [string, (call: Started) => void])[] = [
      [
        'upstream_unreachable',
        (call) => call.exchange.onResponseError(call.controller, Object.assign(new Error(), { code: 'ECONNREFUSED' })),
      ],
      ['upstream_connection_error', (call) => call.exchange.onResponseError(call.controller, cut)],
      ['upstream_timeout', (call) => call.exchange.check(call.advance(601_000))],
      [
        'upstream_invalid_reply',
        (call) => {
          call.answer(200, 'text/html');
          call.data('<html>');
          call.exchange.onResponseEnd();
        },
      ],
    ];
    for (const [code, fail] of failures) {
      const call = start({ dialect });
      fail(call);
      assertUntouched(call, code);
      call.handedOver[0]?.answer();
      assert.equal(call.outcomes.length, 1);
      assert.equal(call.response.writableEnded, true);
    }
  });

  test('heartbeats are not content: the call is offered, and a later answer is an event of the stream', () => {
    const call = start({ dialect, framing: 'sse', timeouts: { heartbeatMs: 1000 } });
    call.answer(200);
    call.data(streams['openai-chat'].opening);
    call.exchange.check(call.advance(1500));
    assert.equal(call.response.status, 200);
    call.exchange.onResponseError(call.controller, cut);
    assert.equal(call.handedOver.length, 1);
    call.handedOver[0]?.answer();
    assert.match(call.response.text(), /^: .*\n\ndata: .*error/s);
    assert.equal(call.response.writableEnded, true);
  });

  test('a call without a client is not handed over', () => {
    const call = start({ dialect });
    call.response.close();
    assert.deepEqual(call.handedOver, []);
    assert.equal(call.outcomes[0]?.end, 'failed');
  });
});
