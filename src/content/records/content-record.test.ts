import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createMasker } from '../masking/mask-text.ts';
import { makeRecord } from './content-record.ts';
import type { RecordedBody, RecordedCall, RecordedFacts } from './recorded-call.ts';

const facts: RecordedFacts = {
  id: 'call_1',
  atMs: Date.UTC(2026, 10, 27),
  durationMs: 5,
  userId: 'u1',
  user: 'ann',
  keyId: 'k1',
  key: 'ci',
  interface: 'openai-chat',
  operation: 'chat',
  end: 'finished',
  status: 200,
  stream: false,
  usage: {},
};
const body = (value: unknown, mediaType = 'application/json'): RecordedBody => {
  const bytes = new Uint8Array(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
  return { bytes, bytesTotal: bytes.length, mediaType };
};
const mask = createMasker();
const record = (
  call: Omit<RecordedCall, 'facts' | 'mode'> & { readonly mode?: RecordedCall['mode']; readonly facts?: Partial<RecordedFacts> },
) => JSON.parse(JSON.stringify(makeRecord({ mode: 'masked', ...call, facts: { ...facts, ...call.facts } }, mask)));
const chat = { dialect: 'openai-chat', operation: 'generate' } as const;
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

describe('the record of a chat', () => {
  test('a value that the stream has cut into pieces is masked, because the assembled text is', () => {
    const stream = [
      chunk({ role: 'assistant', content: 'ann@exa' }),
      chunk({ content: 'mple.org ok' }),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ];
    const made = record({
      chat,
      request: body({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
      reply: body(stream.join(''), 'text/event-stream'),
    });
    assert.deepEqual(made.output_messages, [
      { role: 'assistant', parts: [{ type: 'text', content: '[email] ok' }], finish_reason: 'stop' },
    ]);
    assert.deepEqual(made.masked, { email: 1 });
  });

  test('a stream that was interrupted has the text until then, also without its last line end', () => {
    const made = record({
      chat,
      reply: body(chunk({ role: 'assistant', content: 'half' }).trimEnd(), 'text/event-stream'),
      facts: { end: 'cut' },
    });
    assert.deepEqual(made.output_messages[0].parts, [{ type: 'text', content: 'half' }]);
    assert.equal(made.output_messages[0].finish_reason, 'error');
  });

  test('arguments and results of tools are masked in names, texts, numbers and secret members', () => {
    const call = {
      id: 't1',
      type: 'function',
      function: { name: 'pay', arguments: '{"ann@example.org":4111111111111111,"password":"x9"}' },
    };
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 't1', content: '{"iban":"DE89370400440532013000"}' },
    ];
    const made = record({ chat, request: body({ model: 'm', messages }) });
    assert.deepEqual(made.input_messages[1].parts[0].arguments, { '[email]': '[card]', password: '[credential]' });
    assert.deepEqual(made.input_messages[2], {
      role: 'tool',
      parts: [{ type: 'tool_call_response', id: 't1', response: [{ type: 'text', content: '{"iban":"[iban]"}' }] }],
    });
  });

  test('a request without a neutral form is recorded as its JSON, masked and without bytes', () => {
    const made = record({
      chat,
      request: body({
        model: 'm',
        n: 3,
        messages: [{ role: 'user', content: `ann@example.org data:image/png;base64,${'QUJD'.repeat(50)}` }],
      }),
    });
    assert.equal(made.request.n, 3);
    assert.match(made.request.messages[0].content, /^\[email\] \(image\/png, 150 bytes, sha256 [0-9a-f]{64}\)$/);
  });

  test('an error answer is recorded as its JSON', () => {
    const made = record({ chat, reply: body({ error: { message: 'no ann@example.org' } }), facts: { status: 400, end: 'failed' } });
    assert.deepEqual(made.reply, { error: { message: 'no [email]' } });
  });

  test('full records nothing masked', () => {
    const made = record({ chat, mode: 'full', request: body({ model: 'm', messages: [{ role: 'user', content: 'ann@example.org' }] }) });
    assert.deepEqual([made.mode, made.masked, made.input_messages[0].parts[0].content], ['full', undefined, 'ann@example.org']);
  });
});

describe('what is left out', () => {
  test('bodies that are too large, unreadable, or bytes, each with its size and reason', () => {
    const large = { ...body('{"a":'), bytesTotal: 9_000_000 };
    const made = record({ request: large, reply: body('\u0000ID3', 'audio/mpeg') });
    assert.deepEqual(made.left_out, [
      { part: 'request', bytes: 9_000_000, reason: 'too-large' },
      { part: 'reply', bytes: 4, reason: 'bytes' },
    ]);
    assert.equal(made.reply.sha256.length, 64);
    assert.deepEqual(record({ request: body('{"a":') }).left_out, [{ part: 'request', bytes: 5, reason: 'not-readable' }]);
  });

  test('vectors, and the bytes of images that an answer has', () => {
    const vector = Array.from({ length: 256 }, () => 0.5);
    const made = record({
      request: body({ model: 'e', input: ['one', 'ann@example.org'] }),
      reply: body({ data: [{ embedding: vector }, { b64_json: 'QUI0'.repeat(100) }] }),
    });
    assert.deepEqual(
      made.input_messages[0].parts.map(({ content }: { content: string }) => content),
      ['one', '[email]'],
    );
    assert.equal(made.reply.data[0].embedding, '(256 numbers)');
    assert.match(made.reply.data[1].b64_json, /^\(300 bytes, sha256/);
  });
});
