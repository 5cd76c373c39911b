import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { StreamFraming } from '../../../platform/frames.ts';
import { largeBodyBytes, yieldIfLong } from '../../../platform/yield-queue.ts';
import { createFakeExchange, type FakeExchangeOptions } from './testing/fake-exchange.ts';
import { StreamReply } from './stream-reply.ts';

const { 'anthropic-messages': messages, 'openai-chat': chat, 'gemini-generate-content': gemini } = chatDialects;
const headers = { 'content-type': 'text/event-stream' };

function start({ isSlow = false, ...options }: Partial<FakeExchangeOptions> & { framing?: StreamFraming; isSlow?: boolean } = {}) {
  const framing = options.framing ?? 'sse';
  const fake = createFakeExchange({ dialect: messages, framing, ...options });
  const { controller } = fake;
  const flow = {
    pause: () => controller.pause(),
    resume: () => controller.resume(),
    stop: () => controller.abort(new Error('stopped')),
  };
  const { relay } = fake.context;
  const openStream: typeof relay.openStream = (...given) => ({ ...relay.openStream(...given), isSlow });
  const reply = new StreamReply({ ...fake.context, relay: { ...relay, openStream } }, flow, headers, framing);
  return {
    ...fake,
    reply,
    send: (text: string) => reply.data(Buffer.from(text)),
    check: (ms: number) => reply.check(fake.advance(ms)),
  };
}

const event = (data: { readonly type: string; readonly [member: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const opening = event({ type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 7, output_tokens: 1 } } });
const delta = (text: string): string => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const stopReason = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } });
const closing = event({ type: 'message_stop' });
const broken = new GatewayError('upstream_connection_error', 'it broke');

describe('a stream that completes is passed on', () => {
  test('bytes out are bytes in, at any chunk size', () => {
    const body = Buffer.from(opening + delta('grüße 🌊') + stopReason + closing);
    for (const size of [1, 2, 7, 64, body.length]) {
      const stream = start();
      for (let at = 0; at < body.length; at += size) stream.reply.data(Buffer.from(body.subarray(at, at + size)));
      stream.reply.end();
      assert.deepEqual(Buffer.concat(stream.response.chunks), body);
      assert.equal(stream.outcomes.length, 1);
      assert.equal(stream.outcomes[0]?.end, 'finished');
      assert.equal(stream.outcomes[0].complete, true);
      assert.equal(stream.outcomes[0].report?.usageReport?.usage.outputTokens, 3);
    }
  });

  test('a large event that is slow to read waits for a later turn if this one has worked for long; the order stays', async () => {
    const body = opening + delta('first') + delta('x'.repeat(2 * largeBodyBytes)) + stopReason + closing;
    for (const isSlow of [false, true]) {
      const stream = start({ isSlow });
      await setImmediate();
      // Begins the time of this turn, and uses it up.
      assert.equal(yieldIfLong(), undefined);
      for (const until = performance.now() + 5; performance.now() < until;);
      stream.send(body.slice(0, body.length / 2));
      stream.send(body.slice(body.length / 2));
      stream.reply.end();
      assert.equal(Buffer.concat(stream.response.chunks).includes('first'), true);
      assert.equal(stream.outcomes.length, isSlow ? 0 : 1);
      await setImmediate();
      await setImmediate();
      assert.equal(Buffer.concat(stream.response.chunks).toString(), body);
      assert.deepEqual(
        stream.outcomes.map(({ end, complete }) => [end, complete]),
        [['finished', true]],
      );
    }
  });

  test('the call is settled before the last bytes are passed on', () => {
    const stream = start();
    stream.send(opening + delta('hi'));
    stream.send(stopReason + closing);
    stream.reply.end();
    assert.deepEqual(
      stream.happened.filter((step) => step !== 'progress'),
      ['content', 'head 200', 'bytes', 'settled finished', 'bytes', 'end'],
    );
  });

  test('head-without-bytes: nothing is sent before the first whole event with content', () => {
    const stream = start();
    stream.send(opening);
    const first = delta('hi');
    stream.send(first.slice(0, -1));
    assert.equal(stream.response.headersSent, false);
    stream.send('\n');
    assert.equal(stream.response.status, 200);
    assert.deepEqual(stream.response.headers, headers);
    assert.equal(Buffer.concat(stream.response.chunks).toString(), opening + first);
  });

  test('usage after an error does not count, at any chunk size, and is passed on', () => {
    const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    const body = Buffer.from(opening + delta('hi') + error + stopReason + closing);
    for (const size of [1, 7, 64, body.length]) {
      const stream = start();
      for (let at = 0; at < body.length; at += size) stream.reply.data(Buffer.from(body.subarray(at, at + size)));
      stream.reply.end();
      assert.deepEqual(Buffer.concat(stream.response.chunks), body);
      assert.deepEqual(
        stream.outcomes.map(({ end, report }) => [end, report?.usageReport?.usage.outputTokens]),
        [['cut', 1]],
      );
    }
  });

  test('an unterminated last event counts if it is the dialect’s end', () => {
    const stream = start();
    stream.send(opening + delta('hi') + stopReason + closing.slice(0, -2));
    stream.reply.end();
    assert.equal(stream.outcomes[0]?.end, 'finished');
    assert.equal(Buffer.concat(stream.response.chunks).toString(), opening + delta('hi') + stopReason + closing);
  });

  test('an unterminated last event that is not the end is dropped, and the stream is cut', () => {
    const stream = start();
    stream.send(opening + delta('hi') + delta('half').slice(0, -1));
    stream.reply.end();
    assert.deepEqual(
      stream.outcomes.map(({ end, complete, error }) => ({ end, complete, code: error?.code })),
      [{ end: 'cut', complete: false, code: 'upstream_connection_error' }],
    );
    assert.doesNotMatch(Buffer.concat(stream.response.chunks).toString(), /half/);
    assert.match(Buffer.concat(stream.response.chunks).toString(), /\n\nevent: error\ndata: .*terminated early.*\n\n$/);
  });

  test('blank bytes after the end also pass', () => {
    const stream = start();
    stream.send(`${opening}${delta('hi')}${stopReason}${closing}\r`);
    stream.reply.end();
    assert.equal(Buffer.concat(stream.response.chunks).toString(), `${opening}${delta('hi')}${stopReason}${closing}\r`);
    assert.equal(stream.outcomes[0]?.end, 'finished');
  });

  test('error-after-complete: the client has its answer, and nothing follows it', () => {
    const stream = start();
    const whole = opening + delta('hi') + stopReason + closing;
    stream.send(whole);
    stream.reply.fail(broken);
    assert.equal(Buffer.concat(stream.response.chunks).toString(), whole);
    assert.equal(stream.response.writableEnded, true);
    assert.deepEqual(
      stream.outcomes.map(({ end, error }) => ({ end, error })),
      [{ end: 'finished', error: undefined }],
    );
  });

  test('client-leaves-after-the-end: a late disconnect changes nothing', () => {
    const stream = start();
    stream.send(opening + delta('hi') + stopReason + closing);
    stream.reply.clientLeft();
    assert.deepEqual(
      stream.outcomes.map(({ end }) => end),
      ['finished'],
    );
  });
});

describe('a stream that fails ends with an error', () => {
  test('after content it is cut, charged for the delivered part, and ends with the dialect’s error event at an event boundary', () => {
    const stream = start();
    stream.send(opening + delta('hello') + delta('never whole').slice(0, 20));
    stream.reply.fail(broken);
    const [outcome] = stream.outcomes;
    assert.equal(outcome?.end, 'cut');
    assert.equal(outcome.complete, false);
    assert.equal(outcome.error, broken);
    assert.equal(outcome.report?.outputCharacters, 5);
    assert.equal(
      Buffer.concat(stream.response.chunks)
        .toString()
        .slice(0, (opening + delta('hello')).length),
      opening + delta('hello'),
    );
    assert.match(Buffer.concat(stream.response.chunks).toString(), /\n\nevent: error\ndata: \{"type":"error".*it broke.*\}\n\n$/);
    assert.deepEqual(stream.happened.slice(-3), ['settled cut', 'bytes', 'end']);
  });

  test('before content it is still an HTTP status, even after the opening', () => {
    const stream = start();
    stream.send(opening);
    stream.reply.fail(broken);
    assert.equal(stream.response.status, 503);
    assert.equal(stream.response.headers['content-type'], 'application/json');
    assert.equal(stream.outcomes[0]?.end, 'failed');
  });

  test("the vendor's own error event passes, and nothing is added to it", () => {
    const stream = start();
    const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    stream.send(opening + delta('hi'));
    stream.send(error);
    stream.reply.end();
    assert.equal(Buffer.concat(stream.response.chunks).toString(), opening + delta('hi') + error);
    assert.deepEqual(
      stream.outcomes.map(({ end, error: { code, message } = broken }) => [end, code, message]),
      [['cut', 'upstream_overloaded', 'the model service answered with an error: Overloaded']],
    );
  });

  test('a frame beyond the limit stops the upstream and the stream', () => {
    const stream = start({ limits: { eventBytesMax: 256 } });
    stream.send(opening + delta('hi'));
    stream.send(delta('x'.repeat(300)));
    assert.equal(stream.controller.aborted, true);
    assert.equal(stream.outcomes[0]?.end, 'cut');
    assert.equal(stream.outcomes[0].error?.code, 'upstream_reply_too_large');
    assert.match(Buffer.concat(stream.response.chunks).toString(), /larger than 256 bytes.*terminated/);
    assert.equal(stream.response.writableEnded, true);
  });

  test('it settles once, whatever follows', () => {
    const stream = start();
    stream.send(opening + delta('hi'));
    stream.reply.clientLeft();
    stream.response.close();
    stream.reply.clientLeft();
    assert.deepEqual(
      stream.outcomes.map(({ end }) => end),
      ['client-left'],
    );
    assert.equal(stream.outcomes[0]?.report?.usageReport?.usage.inputTokens, 7);
  });

  test('malformed events pass and are logged once, with their number and without their content', () => {
    const stream = start();
    stream.send(`${opening}data: {secret\n\n${delta('hi')}data: {secret\n\n${stopReason}${closing}`);
    stream.reply.end();
    assert.equal(stream.logged.length, 1);
    assert.match(JSON.stringify(stream.logged), /"malformedFrames":2/);
    assert.doesNotMatch(JSON.stringify(stream.logged), /secret/);
    assert.match(Buffer.concat(stream.response.chunks).toString(), /data: \{secret/);
  });
});

describe('a stream waits for its client', () => {
  test('a full client buffer pauses the upstream once, and the next drain resumes it', () => {
    const stream = start();
    stream.response.isFull = true;
    stream.send(opening);
    stream.send(delta('one'));
    stream.send(delta('two'));
    assert.deepEqual(
      stream.happened.filter((step) => /pause|resume/.test(step)),
      ['pause'],
    );
    stream.response.drain();
    assert.deepEqual(
      stream.happened.filter((step) => /pause|resume/.test(step)),
      ['pause', 'resume'],
    );
    stream.response.isFull = true;
    stream.send(delta('three'));
    assert.equal(stream.controller.paused, true, 'it pauses again');
  });

  test('while paused, silence is not the upstream’s fault and no heartbeats accumulate', () => {
    const stream = start({ timeouts: { idleMs: 100, heartbeatMs: 50, stalledReaderMs: 10_000 } });
    stream.response.isFull = true;
    stream.send(opening + delta('hi'));
    stream.check(5000);
    assert.equal(stream.outcomes.length, 0);
    assert.equal(Buffer.concat(stream.response.chunks).toString(), opening + delta('hi'));
    stream.response.drain();
    stream.check(99);
    assert.equal(stream.outcomes.length, 0, 'the wait begins anew when the upstream may send again');
    stream.check(1);
    assert.equal(stream.outcomes[0]?.error?.code, 'upstream_timeout');
  });

  test('stalled-reader: a client that reads nothing is disconnected and charged for the delivered part', () => {
    const stream = start({ timeouts: { stalledReaderMs: 1000 } });
    stream.response.isFull = true;
    stream.send(opening + delta('hi'));
    stream.check(999);
    assert.equal(stream.response.destroyed, false);
    stream.check(1);
    assert.equal(stream.controller.aborted, true);
    assert.equal(stream.response.destroyed, true);
    assert.equal(stream.outcomes[0]?.end, 'client-left');
    assert.equal(stream.outcomes.length, 1);
  });

  test('a silent upstream is a time-out that names the length of the wait', () => {
    const stream = start({ timeouts: { idleMs: 2000 } });
    stream.send(opening + delta('hi'));
    stream.check(1999);
    assert.equal(stream.outcomes.length, 0);
    stream.check(1);
    assert.equal(stream.controller.aborted, true);
    assert.equal(stream.outcomes[0]?.end, 'cut');
    assert.match(Buffer.concat(stream.response.chunks).toString(), /no event of the stream within 2 s \(timeout\)/);
  });

  test('a stream that is silent before its first event sends its head with the heartbeat', () => {
    const stream = start({ timeouts: { heartbeatMs: 100 } });
    stream.check(99);
    assert.equal(stream.response.headersSent, false);
    stream.check(1);
    assert.equal(stream.response.status, 200);
    assert.equal(Buffer.concat(stream.response.chunks).toString(), 'event: ping\ndata: {"type": "ping"}\n\n');
    stream.check(99);
    assert.equal(stream.response.chunks.length, 1, 'one for each silence');
    stream.check(1);
    assert.equal(stream.response.chunks.length, 2);
  });

  test('an error after a heartbeat is an event, because the status was sent', () => {
    const stream = start({ timeouts: { heartbeatMs: 100 } });
    stream.check(100);
    stream.reply.fail(broken);
    assert.equal(stream.response.status, 200);
    assert.match(Buffer.concat(stream.response.chunks).toString(), /event: error/);
    assert.equal(stream.outcomes[0]?.end, 'failed');
  });

  test('events delay a heartbeat, hidden ones do not, and after the end there is none', () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}\n\n';
    const text = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
    const stream = start({ dialect: chat, timeouts: { heartbeatMs: 100 } });
    stream.check(60);
    stream.send(text);
    stream.check(60);
    assert.equal(Buffer.concat(stream.response.chunks).toString(), text);
    stream.send(usage);
    stream.check(40);
    assert.equal(Buffer.concat(stream.response.chunks).toString(), `${text}: keep-alive\n\n`);
    stream.send('data: [DONE]\n\n');
    stream.check(500);
    assert.equal(Buffer.concat(stream.response.chunks).toString(), `${text}: keep-alive\n\ndata: [DONE]\n\n`);
  });

  test('the heartbeat of an array is white space, at any position', () => {
    const chunk = (text: string, end = ''): string => `{"candidates":[{"index":0,"content":{"parts":[{"text":"${text}"}]}${end}}]}`;
    const stream = start({ dialect: gemini, framing: 'json-array', timeouts: { heartbeatMs: 100 } });
    stream.check(100);
    stream.send(`[${chunk('a')}`);
    stream.check(100);
    stream.send(`,\r\n${chunk('b', ',"finishReason":"STOP"')}\n]`);
    stream.reply.end();
    assert.equal((JSON.parse(Buffer.concat(stream.response.chunks).toString()) as unknown[]).length, 2);
    assert.equal(stream.outcomes[0]?.end, 'finished');
  });

  test('the journal records progress now and then, not at every event', () => {
    const stream = start();
    stream.send(opening + delta('a'));
    const before = stream.happened.filter((step) => step === 'progress').length;
    for (let index = 0; index < 20; index++) {
      stream.advance(10);
      stream.send(delta('b'));
    }
    assert.equal(stream.happened.filter((step) => step === 'progress').length, before + 1);
  });
});

describe('the tap decides which events pass', () => {
  const text = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n';
  const usage = 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}\n\n';

  test('a usage event that the client did not request is hidden, and billed', () => {
    const stream = start({ dialect: chat, body: { stream: true } });
    stream.send(`${text}${usage}data: [DONE]\n\n`);
    stream.reply.end();
    assert.equal(Buffer.concat(stream.response.chunks).toString(), `${text}data: [DONE]\n\n`);
    assert.deepEqual(stream.outcomes[0]?.report?.usageReport?.usage, { inputTokens: 5, outputTokens: 2 });
  });

  test('a requested usage event passes', () => {
    const stream = start({ dialect: chat, body: { stream: true, stream_options: { include_usage: true } } });
    stream.send(`${text}${usage}data: [DONE]\n\n`);
    stream.reply.end();
    assert.equal(Buffer.concat(stream.response.chunks).toString(), `${text}${usage}data: [DONE]\n\n`);
  });

  test('a chunk of only hidden events writes nothing, not even the head', () => {
    const stream = start({ dialect: chat });
    stream.send(usage);
    assert.equal(stream.response.headersSent, false);
    assert.equal(stream.response.chunks.length, 0);
  });

  test('usage-after-finish: a dialect without an end mark settles at the end of the body, with the last usage', () => {
    const stream = start({ dialect: gemini });
    stream.send('data: {"candidates":[{"index":0,"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}\r\n\r\n');
    assert.equal(stream.outcomes.length, 0);
    stream.send('data: {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":2,"totalTokenCount":6}}\r\n\r\n');
    stream.reply.end();
    assert.equal(stream.outcomes[0]?.end, 'finished');
    assert.equal(stream.outcomes[0].report?.usageReport?.usage.inputTokens, 4);
    assert.deepEqual(stream.happened.slice(-2), ['settled finished', 'end']);
  });

  test('heartbeat-after-finish: a dialect without an end mark ends with the vendor’s event, where clients read their usage', () => {
    const stream = start({ dialect: gemini, timeouts: { heartbeatMs: 100 } });
    const last =
      'data: {"candidates":[{"index":0,"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":4}}\r\n\r\n';
    stream.send(last);
    stream.check(500);
    stream.reply.end();
    assert.equal(Buffer.concat(stream.response.chunks).toString(), last);
  });

  test('a dialect without an end mark that fails after its finish has delivered the reply', () => {
    const stream = start({ dialect: gemini });
    const whole = 'data: {"candidates":[{"index":0,"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}\r\n\r\n';
    stream.send(whole);
    stream.reply.fail(broken);
    assert.equal(Buffer.concat(stream.response.chunks).toString(), whole);
    assert.equal(stream.outcomes[0]?.end, 'finished');
  });

  test('an array that fails after its first element stays a JSON array with the error in it', () => {
    const stream = start({ dialect: gemini, framing: 'json-array' });
    stream.send('[{"candidates":[{"index":0,"content":{"parts":[{"text":"hi"}]}}]}');
    stream.send(',\n{"candidates":[{"ind');
    stream.reply.fail(broken);
    const array = JSON.parse(Buffer.concat(stream.response.chunks).toString()) as { error?: { message: string } }[];
    assert.equal(array.length, 2);
    assert.equal(array[1]?.error?.message, 'it broke');
    assert.equal(stream.outcomes[0]?.end, 'cut');
  });
});
