import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, test } from 'node:test';

import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { createFakeExchange, type FakeExchangeOptions } from './testing/fake-exchange.ts';
import { UpstreamExchange } from './upstream-exchange.ts';

const { 'openai-chat': chat } = chatDialects;
const whole = '{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}';
const streamed = [
  'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
] as const;

function start(options: Partial<FakeExchangeOptions> = {}) {
  const fake = createFakeExchange({ dialect: chat, ...options });
  const exchange = new UpstreamExchange(fake.context);
  exchange.start({ path: '/x', method: 'POST', headers: {}, body: undefined });
  const { controller } = fake;
  return {
    ...fake,
    exchange,
    begin: () => exchange.onRequestStart(controller),
    answer: (status = 200, headers: IncomingHttpHeaders = { 'content-type': 'application/json' }) =>
      exchange.onResponseStart(controller, status, headers),
    data: (text: string) => exchange.onResponseData(controller, Buffer.from(text)),
    end: () => exchange.onResponseEnd(),
    breakOff: (code = 'CONNECTION_CLOSED') => exchange.onResponseError(controller, Object.assign(new Error('broken'), { code })),
    check: (ms: number) => exchange.check(fake.advance(ms)),
  };
}

const sse = { 'content-type': 'text/event-stream; charset=utf-8' };

describe('a call that is answered is passed on', () => {
  test('the answer is in the books before any of a whole reply is passed on', () => {
    const call = start();
    call.begin();
    call.answer(200, { 'content-type': 'application/json', 'x-request-id': 'up_1', 'set-cookie': ['a=1'] });
    call.data(whole);
    call.end();
    call.response.close();
    assert.equal(call.sent.length, 1);
    assert.deepEqual(call.happened, ['answered 200 up_1', 'content', 'settled finished', 'head 200', 'bytes', 'end']);
    assert.equal(call.response.headers['x-weir-request-id'], 'req_1');
    assert.equal(call.response.headers['set-cookie'], undefined);
  });

  test('a stream passes event by event', () => {
    const call = start({ framing: 'sse' });
    call.begin();
    call.answer(200, sse);
    for (const part of streamed) call.data(part);
    call.end();
    call.response.close();
    assert.equal(call.response.text(), streamed.join(''));
    assert.equal(call.outcomes.length, 1);
    assert.equal(call.outcomes[0]?.end, 'finished');
  });

  test('stream-asked-whole-answered: JSON or HTML is not a stream, an unlabelled body is', () => {
    for (const [type, isStream] of [
      ['application/json', false],
      ['text/html', false],
      ['text/plain', true],
      [undefined, true],
    ] as const) {
      const call = start({ framing: 'sse' });
      call.begin();
      call.answer(200, type === undefined ? {} : { 'content-type': type });
      for (const part of streamed) call.data(part);
      call.end();
      assert.equal(call.response.status, isStream ? 200 : 502, type ?? 'none');
      assert.equal(call.outcomes[0]?.end, isStream ? 'finished' : 'failed', type ?? 'none');
    }
  });

  test('a streamed array is JSON, and still a stream', () => {
    const call = start({ dialect: chatDialects['gemini-generate-content'], vendor: 'gemini', framing: 'json-array' });
    call.begin();
    call.answer(200, { 'content-type': 'application/json; charset=UTF-8' });
    call.data('[{"candidates":[{"index":0,"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}\n]');
    assert.equal(call.response.headersSent, true);
    call.end();
    assert.equal(call.outcomes[0]?.end, 'finished');
  });

  test('a redirect is neither followed nor passed on', () => {
    const call = start();
    call.begin();
    call.answer(307, { location: 'http://169.254.169.254/' });
    call.end();
    assert.equal(call.sent.length, 1);
    assert.equal(call.response.status, 502);
    assert.doesNotMatch(JSON.stringify(call.response.headers) + call.response.text(), /169\.254/);
  });

  test('a compressed reply, which was not requested, is refused and its upstream stopped', () => {
    for (const framing of [undefined, 'sse'] as const) {
      const call = start({ framing });
      call.begin();
      call.answer(200, { 'content-type': 'application/json', 'content-encoding': 'br' });
      call.data('\u0001');
      call.end();
      assert.equal(call.controller.aborted, true);
      assert.equal(call.response.status, 502);
      assert.match(call.response.text(), /content-encoding br/);
      assert.equal(call.outcomes.length, 1);
    }
    const call = start();
    call.begin();
    call.answer(200, { 'content-type': 'application/json', 'content-encoding': 'identity' });
    call.data(whole);
    call.end();
    assert.equal(call.response.status, 200);
  });

  test('early hints are not the answer', () => {
    const call = start({ timeouts: { idleMs: 100, firstByteMs: 1000 } });
    call.begin();
    call.answer(103, { link: '</a>' });
    call.check(500);
    assert.equal(call.outcomes.length, 0, 'the wait is still that for the answer');
    call.answer();
    call.data(whole);
    call.end();
    assert.equal(call.response.text(), whole);
    assert.deepEqual(
      call.happened.filter((step) => step.startsWith('answered')),
      ['answered 200'],
    );
  });

  test('early hints before a closed connection are not a reply', () => {
    const call = start();
    call.begin();
    call.answer(103, {});
    call.breakOff();
    assert.match(call.response.text(), /before a reply came/);
  });
});

describe('a client that disconnects ends its call', () => {
  test('before the connection to the upstream exists the request is never sent', () => {
    const call = start();
    call.response.close();
    assert.deepEqual(call.outcomes, [{ end: 'failed', complete: false }]);
    call.begin();
    assert.equal(call.controller.aborted, true);
    call.breakOff();
    assert.equal(call.outcomes.length, 1);
  });

  test('before the answer the upstream is stopped and nothing is charged', () => {
    const call = start();
    call.begin();
    call.response.close();
    assert.equal(call.controller.aborted, true);
    assert.deepEqual(
      call.outcomes.map(({ end }) => end),
      ['failed'],
    );
  });

  test('in the middle of a stream the delivered part is charged', () => {
    const call = start({ framing: 'sse' });
    call.begin();
    call.answer(200, sse);
    call.data(streamed[0]);
    call.response.close();
    assert.equal(call.controller.aborted, true);
    assert.deepEqual(
      call.outcomes.map(({ end, report }) => [end, report?.outputCharacters]),
      [['client-left', 2]],
    );
  });

  test('after the last bytes the call stays finished', () => {
    const call = start();
    call.begin();
    call.answer();
    call.data(whole);
    call.end();
    call.response.destroyed = true;
    call.response.emit('close');
    assert.deepEqual(
      call.outcomes.map(({ end }) => end),
      ['finished'],
    );
    assert.equal(call.controller.aborted, false, 'the connection is good for the next call');
  });

  test('late-upstream-events: late events change nothing', () => {
    const call = start({ framing: 'sse' });
    call.begin();
    call.response.close();
    const before = [...call.happened];
    call.answer(200, sse);
    call.data(streamed[0]);
    call.end();
    call.breakOff();
    call.check(10_000_000);
    call.exchange.terminate(new GatewayError('shutting_down', 'bye'));
    assert.deepEqual(call.happened, before);
  });
});

describe('an upstream that fails ends its call', () => {
  test('a failure before the answer is a status, and nothing is charged', () => {
    const call = start();
    call.breakOff('ECONNREFUSED');
    assert.equal(call.response.status, 503);
    assert.equal(call.response.headers['retry-after'], '1');
    assert.equal(call.response.headers['x-weir-request-id'], 'req_1');
    assert.deepEqual(
      call.outcomes.map(({ end, error }) => [end, error?.code]),
      [['failed', 'upstream_unreachable']],
    );
  });

  test('a failure in the middle of a stream cuts it, and an error says so', () => {
    const call = start({ framing: 'sse' });
    call.begin();
    call.answer(200, sse);
    call.data(streamed[0]);
    call.breakOff();
    assert.match(call.response.text(), /terminated early/);
    assert.equal(call.outcomes[0]?.end, 'cut');
    call.response.close();
    assert.equal(call.outcomes.length, 1);
  });

  test('the wait for the status line ends', () => {
    const call = start({ timeouts: { firstByteMs: 100 } });
    call.begin();
    call.check(99);
    assert.equal(call.outcomes.length, 0);
    call.check(1);
    assert.equal(call.controller.aborted, true);
    assert.equal(call.response.status, 504);
    assert.equal(call.outcomes[0]?.error?.code, 'upstream_timeout');
  });

  test('a connection that is never made ends as well, and the request is not sent later', () => {
    const call = start({ timeouts: { firstByteMs: 100 } });
    call.check(100);
    assert.equal(call.response.status, 504);
    call.begin();
    assert.equal(call.controller.aborted, true);
  });

  test('the limit on the whole call ends a reply that never ends', () => {
    const call = start({ framing: 'sse', timeouts: { totalMs: 1000, idleMs: 400 } });
    call.begin();
    call.answer(200, sse);
    for (let index = 0; index < 9; index++) {
      call.data(streamed[0]);
      call.check(110);
    }
    assert.equal(call.outcomes.length, 0);
    call.check(10);
    assert.equal(call.controller.aborted, true);
    assert.equal(call.outcomes[0]?.end, 'cut');
    assert.match(call.response.text(), /no end of the reply within 1 s/);
  });
});

describe('a client that does not read the end of its reply is limited', () => {
  const ended = () => {
    const call = start({ timeouts: { stalledReaderMs: 1000 } });
    call.begin();
    call.answer();
    call.data(whole);
    call.end();
    return call;
  };

  test('it is disconnected when it has read nothing for the stall limit', () => {
    const call = ended();
    call.check(100);
    call.check(100);
    assert.equal(call.response.socketLimit?.limitMs, 1000);
    assert.equal(call.response.destroyed, false, 'a slow reader is waited for: the limit starts anew whenever bytes leave');
    call.response.socketLimit.onEnd();
    assert.equal(call.response.destroyed, true);
    assert.deepEqual(
      call.outcomes.map(({ end }) => end),
      ['finished'],
      'the call stays what it was',
    );
  });

  test('a client that has read everything is not limited', () => {
    const call = ended();
    call.response.writableFinished = true;
    call.check(1_000_000);
    assert.equal(call.response.socketLimit, undefined);
  });
});

describe('the gateway itself can end a call', () => {
  test('a shutdown ends a stream with its error event, and a call without an answer with a status', () => {
    const bye = new GatewayError('shutting_down', 'bye', { retryAfterSeconds: 1 });
    const stream = start({ framing: 'sse' });
    stream.begin();
    stream.answer(200, sse);
    stream.data(streamed[0]);
    stream.exchange.terminate(bye);
    stream.exchange.terminate(bye);
    assert.match(stream.response.text(), /"message":"bye"/);
    assert.equal(stream.outcomes[0]?.end, 'cut');
    const waiting = start();
    waiting.begin();
    waiting.exchange.terminate(bye);
    assert.equal(waiting.response.status, 503);
    for (const call of [stream, waiting]) {
      assert.equal(call.controller.aborted, true);
      assert.equal(call.outcomes.length, 1);
    }
  });

  test('a bug while a reply is read ends only that call, and is logged', () => {
    const defect = (): never => {
      throw new TypeError('defect');
    };
    const stream = start({
      framing: 'sse',
      dialect: { ...chat, createStreamTap: (options) => ({ ...chat.createStreamTap(options), read: defect }) },
    });
    stream.begin();
    stream.answer(200, sse);
    stream.data(streamed[0]);
    const reply = start({ dialect: { ...chat, readReply: defect } });
    reply.begin();
    reply.answer();
    reply.data(whole);
    reply.end();
    const edit = start({ dialect: { ...chat, editReply: defect } });
    edit.begin();
    edit.answer();
    edit.data(whole);
    edit.end();
    const heartbeat = start({
      framing: 'sse',
      dialect: { ...chat, voice: { ...chat.voice, heartbeat: defect } },
      timeouts: { heartbeatMs: 10 },
    });
    heartbeat.begin();
    heartbeat.answer(200, sse);
    heartbeat.check(10);
    assert.match(heartbeat.response.text(), /the gateway failed while reading the reply/);
    for (const call of [stream, reply, edit, heartbeat]) {
      if (call !== heartbeat) assert.equal(call.response.status, 500);
      assert.equal(call.response.writableEnded, true);
      assert.deepEqual(
        call.outcomes.map(({ end, error }) => [end, error?.code]),
        [['failed', 'internal_error']],
      );
      assert.equal(call.logged.length, 1);
    }
  });
});
