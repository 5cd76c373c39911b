import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { chatDialects } from '../../src/dialects/registry.ts';
import { createByteForm } from '../../src/gateway/endpoints/chat/reply-form.ts';
import { createTranslateRelay } from '../../src/gateway/endpoints/chat/translate/translate-relay.ts';
import type { Translation } from '../../src/gateway/endpoints/chat/translate/prepare-translation.ts';
import { createTranslationNotes } from '../../src/inference/translation-notes.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { createSseFrameReader } from '../../src/platform/sse/sse-frame-reader.ts';
import { upstreamVendors } from '../../src/upstreams/registry.ts';
import type { VendorId } from '../../src/upstreams/upstream-vendor.ts';
import { threadMs } from '../../src/platform/thread-ms.ts';
import { speeches } from './translated-bench.ts';

const [messages, responses, chat, generate] = ['anthropic-messages', 'openai-responses', 'openai-chat', 'gemini-generate-content'] as const;

const servers: Readonly<Record<DialectId, readonly [VendorId, string]>> = {
  [messages]: ['anthropic', 'claude-sonnet-4-5'],
  [responses]: ['openai', 'gpt-4.1'],
  [chat]: ['openai-compatible', 'm'],
  [generate]: ['gemini', 'gemini-2.5-flash'],
};

/** About as much as the structural limits permit. Quadratic work would take minutes. */
const count = 40_000;
const limitMs = 4000;
const times = <T>(make: (at: number) => T, length = count): T[] => Array.from({ length }, (_, at) => make(at));

/**
 * Translates a request and returns the milliseconds that the thread was blocked. A refusal that names a field is also
 * an answer.
 */
function timeRequest(from: DialectId, to: DialectId, body: object): number {
  const [vendor, model] = servers[to];
  const notes = createTranslationNotes(chatDialects[from].codec.fieldNames, false);
  const fit = {
    upstreamModel: model,
    traits: { ...upstreamVendors[vendor].traitsOf(model), jsonSchemaTools: false },
    proofOrigin: vendor,
    notes,
  };
  const startedMs = threadMs();
  try {
    const request = chatDialects[from].codec.decodeRequest({
      operation: 'generate',
      body: { model: 'm', max_tokens: 9, ...body },
      headers: {},
      pathModel: 'm',
    });
    JSON.stringify(chatDialects[to].codec.encodeRequest(request, fit).body);
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'untranslatable_field', String(error));
  }
  return threadMs() - startedMs;
}

const call = (id: string): object => ({ type: 'tool_use', id, name: 'f', input: {} });
const result = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: 'r' });
const functionCall = (name: string): object => ({ functionCall: { name, args: {} } });
const withSchema = (schema: object): object => ({
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [{ name: 'f', input_schema: schema }],
});
const definitions = (names: readonly number[], define: (at: number) => object): object => ({
  type: 'object',
  properties: { a: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(names.map((at) => [`d${at}`, define(at)])),
});
const refs = (length: number): object[] => times((at) => ({ $ref: `#/$defs/d${at}` }), length);

const requests: readonly (readonly [name: string, from: DialectId, to: DialectId, body: object])[] = [
  ['turns of one speaker in a row', messages, generate, { messages: times(() => ({ role: 'user', content: 'x' })) }],
  [
    'one id for all calls',
    messages,
    chat,
    { messages: times((at) => ({ role: at % 2 === 0 ? 'assistant' : 'user', content: [at % 2 === 0 ? call('same') : result('same')] })) },
  ],
  [
    'one id for all calls, to an upstream that requires unique ids',
    responses,
    messages,
    {
      input: times((at) =>
        at % 2 === 0
          ? { type: 'function_call', call_id: 'same', name: 'f', arguments: '{}' }
          : { type: 'function_call_output', call_id: 'same', output: 'r' },
      ),
    },
  ],
  [
    'calls of one turn',
    messages,
    responses,
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: times((at) => call(`c${at}`)) },
        { role: 'user', content: times((at) => result(`c${at}`)) },
      ],
    },
  ],
  [
    'calls without ids',
    generate,
    messages,
    {
      contents: [
        { role: 'model', parts: times(() => functionCall('f')) },
        { role: 'user', parts: times(() => ({ functionResponse: { name: 'f', response: {} } })) },
      ],
    },
  ],
  [
    'rounds of calls that are answered late',
    generate,
    chat,
    {
      contents: [
        ...times(
          (at) => (at % 2 === 0 ? { role: 'model', parts: [functionCall('f')] } : { role: 'user', parts: [{ text: 'x' }] }),
          count / 2,
        ),
        { role: 'user', parts: times(() => ({ functionResponse: { name: 'f', response: {} } }), count / 4) },
      ],
    },
  ],
  [
    'thoughts in pieces',
    generate,
    chat,
    {
      contents: [
        { role: 'model', parts: times(() => ({ text: 'x'.repeat(300), thought: true })) },
        { role: 'user', parts: [{ text: 'y' }] },
      ],
    },
  ],
  [
    'the older function calls, answered at the end',
    chat,
    generate,
    {
      messages: [
        ...times((at) => ({ role: 'assistant', content: null, function_call: { name: at % 2 === 0 ? 'a' : 'b', arguments: '{}' } })),
        ...times(() => ({ role: 'function', name: 'b', content: 'r' }), count / 2),
      ],
    },
  ],
  [
    'arguments nested a million deep',
    chat,
    messages,
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":'.repeat(1_000_000) } }] },
      ],
    },
  ],
  [
    'a schema whose definitions are all composed of each other',
    messages,
    generate,
    withSchema(definitions(times(Number, 12), () => ({ type: 'object', allOf: refs(12) }))),
  ],
  [
    'a schema whose definitions are alternatives of each other',
    messages,
    generate,
    withSchema(definitions(times(Number, 20), () => ({ anyOf: refs(20) }))),
  ],
  [
    'a schema that is a chain of references',
    messages,
    generate,
    withSchema(definitions(times(Number), (at) => ({ $ref: `#/$defs/d${at + 1}` }))),
  ],
  [
    'a schema that refers to a wide definition repeatedly',
    messages,
    generate,
    withSchema({
      type: 'object',
      properties: Object.fromEntries(times((at) => [`p${at}`, { $ref: '#/$defs/wide' }], 2000)),
      $defs: { wide: { type: 'object', ...Object.fromEntries(times((at) => [`x${at}`, 1])) } },
    }),
  ],
  [
    'a wide schema within itself',
    messages,
    generate,
    withSchema({
      $ref: '#/$defs/s',
      $defs: { s: { type: 'object', properties: Object.fromEntries(times((at) => [`p${at}`, { $ref: '#/$defs/s' }])) } },
    }),
  ],
  ['a schema with many types', messages, generate, withSchema({ type: 'object', properties: { a: { type: times((at) => `t${at}`) } } })],
  [
    'a schema that joins many',
    messages,
    generate,
    withSchema({ type: 'object', allOf: times((at) => ({ properties: { [`p${at}`]: { type: 'string' } } })) }),
  ],
];

describe('the time of a request grows with its size and not with its square', () => {
  for (const [name, from, to, body] of requests) {
    test(`${name}, from ${from} to ${to}`, () => {
      const ms = timeRequest(from, to, body);
      assert.ok(ms < limitMs, `${Math.round(ms)} ms`);
    });
  }

  test('a conversation of a megabyte blocks no other call', () => {
    const text = 'The quick brown fox jumps over the lazy dog. Grüße 世界. '.repeat(18);
    const turns = times((at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: [{ type: 'text', text }] }), 1001);
    const best = Math.min(...times(() => timeRequest(messages, generate, { messages: turns }), 5));
    assert.ok(best < 50, `${Math.round(best)} ms`);
  });

  test('two hundred functions block no other call', () => {
    const leaf = { type: 'string', description: 'A leaf.' };
    const level = (inner: object): object => ({
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(times((at) => [`p${at}`, inner], 6)),
    });
    const tools = times((at) => ({ name: `f${at}`, input_schema: level(level(leaf)) }), 200);
    const best = Math.min(...times(() => timeRequest(messages, generate, { messages: [{ role: 'user', content: 'Hi' }], tools }), 5));
    assert.ok(best < 50, `${Math.round(best)} ms`);
  });
});

function translationOf(from: DialectId, to: DialectId, framing: 'sse' | undefined, cutAt: readonly string[] = []): Translation {
  const client = chatDialects[from];
  let lastId = 0;
  const newId = (prefix: string): string => `${prefix}${(lastId += 1)}`;
  const notes = createTranslationNotes(client.codec.fieldNames, false);
  return {
    client,
    upstream: chatDialects[to],
    encoded: { body: {}, cutAt },
    reading: { proofOrigin: 'vendor', newId, notes },
    writing: { requestId: 'req_1', requestedModel: 'm', request: {}, createdAtMs: 0, nowMs: () => 0, inputTokensEstimate: 7, newId, notes },
    notes,
    replyNotes: notes,
    framing,
    correctUsage: (report) => report,
    rememberProofs: () => undefined,
  };
}

function timeWhole(from: DialectId, to: DialectId, reply: object): number {
  const relay = createTranslateRelay(translationOf(from, to, undefined), createByteForm(chatDialects[from], 'sse'));
  const startedMs = threadMs();
  relay.readReply(reply);
  relay.writeReply(reply, Buffer.alloc(0));
  return threadMs() - startedMs;
}

const text = 'The quick brown fox. '.repeat(5000);
const wholes: readonly (readonly [name: string, from: DialectId, to: DialectId, reply: JsonObject])[] = [
  [
    'calls',
    messages,
    responses,
    {
      object: 'response',
      status: 'completed',
      model: 'm',
      output: times((at) => ({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' })),
    },
  ],
  [
    'calls',
    messages,
    chat,
    {
      choices: [
        {
          message: { tool_calls: times((at) => ({ id: `c${at}`, type: 'function', function: { name: 'f', arguments: '{}' } })) },
          finish_reason: 'tool_calls',
        },
      ],
    },
  ],
  [
    'sources of a text',
    generate,
    messages,
    {
      content: [
        {
          type: 'text',
          text,
          citations: times((at) => ({
            type: 'web_search_result_location',
            url: `http://x/${at}`,
            title: 't',
            cited_text: 'c',
            encrypted_index: 'e',
          })),
        },
      ],
      stop_reason: 'end_turn',
    },
  ],
  [
    'sources of a text',
    messages,
    chat,
    {
      choices: [
        {
          message: {
            content: text,
            annotations: times((at) => ({
              type: 'url_citation',
              url_citation: { url: `http://x/${at}`, start_index: at, end_index: at + 1 },
            })),
          },
          finish_reason: 'stop',
        },
      ],
    },
  ],
];

describe('the time of a reply grows with its size and not with its square', () => {
  for (const [name, from, to, reply] of wholes) {
    test(`${name}, from ${to} to ${from}`, () => {
      const ms = timeWhole(from, to, reply);
      assert.ok(ms < limitMs, `${Math.round(ms)} ms`);
    });
  }

  const alike = times((at) => 'a'.repeat(240) + String.fromCharCode(98 + (at % 20)).repeat(1 + Math.floor(at / 20)), 32);
  for (const [name, pieces] of [
    ['in pieces', times(() => 'a'.repeat(239), 2000)],
    ['at once', [`${'a'.repeat(239)}é`.repeat(2000)]],
  ] as const) {
    test(`text ${name} that begins every stop sequence again and again and completes none`, () => {
      const form = createByteForm(chatDialects[messages], 'sse');
      const stream = createTranslateRelay(translationOf(messages, responses, 'sse', alike), form).openStream({ replyBytesMax: 64_000_000 });
      const { start, text: say, finish } = speeches[responses];
      const reader = createSseFrameReader({ frameBytesMax: 32_000_000 });
      const startedMs = threadMs();
      const said = reader
        .push(Buffer.from(start + pieces.map(say).join('') + finish))
        .map((frame) => Buffer.concat(stream.read(frame)).toString());
      const ms = threadMs() - startedMs;
      assert.ok(ms < limitMs, `${Math.round(ms)} ms`);
      assert.match(said.join(''), /message_stop/);
    });
  }
});
