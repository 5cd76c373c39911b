import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { wrapProof } from '../../src/inference/proof.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import type { ReceivedReply } from '../support/open-call.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import type { Mode } from './fault-bench.ts';
import { answers, type ScriptedWeir, type Speech, speeches, startScriptedWeir, streams } from './translated-bench.ts';

const ids = ['anthropic-messages', 'openai-responses', 'openai-chat', 'gemini-generate-content'] as const;
const dialects: readonly DialectId[] = ids;

function modeOf(dialect: DialectId, stream = false): Mode {
  const api = chatInterfaces.find((candidate) => candidate.dialect === dialect);
  assert.ok(api);
  return { title: dialect, api, stream };
}

const pairs = dialects.flatMap((from) => dialects.filter((to) => to !== from).map((to) => ({ from, to, title: `${from} to ${to}` })));

type Call = { readonly id: string; readonly name: string; readonly input: unknown };

/** A request in a dialect: functions, and calls with their results. */
type Words = {
  readonly functions: (names: readonly string[], parameters: object) => object;
  readonly calls: (calls: readonly Call[], result: string) => object;
};

const gemini: Words = {
  functions: (names, parameters) => ({
    tools: [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: parameters })) }],
  }),
  calls: (calls, result) => ({
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      ...calls.flatMap(({ id, name, input }) => [
        { role: 'model', parts: [{ functionCall: { id, name, args: input } }] },
        { role: 'user', parts: [{ functionResponse: { id, name, response: { result } } }] },
      ]),
    ],
  }),
};

const words: Readonly<Record<DialectId, Words>> = {
  'anthropic-messages': {
    functions: (names, parameters) => ({ tools: names.map((name) => ({ name, input_schema: parameters })) }),
    calls: (calls, result) => ({
      messages: [
        { role: 'user', content: 'Hi' },
        ...calls.flatMap(({ id, name, input }) => [
          { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
        ]),
      ],
    }),
  },
  'openai-responses': {
    functions: (names, parameters) => ({ tools: names.map((name) => ({ type: 'function', name, parameters, strict: false })) }),
    calls: (calls, result) => ({
      input: [
        { role: 'user', content: 'Hi' },
        ...calls.flatMap(({ id, name, input }) => [
          { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) },
          { type: 'function_call_output', call_id: id, output: result },
        ]),
      ],
    }),
  },
  'openai-chat': {
    functions: (names, parameters) => ({ tools: names.map((name) => ({ type: 'function', function: { name, parameters } })) }),
    calls: (calls, result) => ({
      messages: [
        { role: 'user', content: 'Hi' },
        ...calls.flatMap(({ id, name, input }) => [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
          },
          { role: 'tool', tool_call_id: id, content: result },
        ]),
      ],
    }),
  },
  'gemini-generate-content': gemini,
};

/** Clients that are hostile, or only unusual, to an upstream of another dialect. */
describe('a hostile client of a translated model', { concurrency: 2 }, () => {
  let bench: ScriptedWeir;
  before(async () => {
    bench = await startScriptedWeir();
  });
  after(() => bench[Symbol.asyncDispose]());

  /** Sends a request, which gets a plain answer; returns the reply and the upstream's request. */
  async function ask(
    from: DialectId,
    to: DialectId,
    body: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ reply: ReceivedReply; got: string | undefined; ms: number }> {
    let got: string | undefined;
    const startedMs = performance.now();
    const reply = await bench.send(
      modeOf(from),
      to,
      (response, received, request) => {
        got = received;
        answers(200, 'application/json', JSON.stringify(speeches[to].whole('words')))(response, received, request);
      },
      { body: body as Record<string, unknown>, headers },
    );
    return { reply, got, ms: performance.now() - startedMs };
  }

  const anyObject = { type: 'object', properties: { a: { type: 'string' } } };

  for (const { from, to, title } of pairs) {
    test(`${title}: names of prototypes are ordinary names`, async () => {
      // Parsed, because a literal would set the prototype.
      const input = JSON.parse('{"__proto__":{"x":1},"constructor":"c","toString":[1]}') as object;
      const parameters = JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["constructor"]}',
      ) as object;
      const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
      const calls = names.map((name) => ({ id: name, name, input }));
      const { reply, got } = await ask(from, to, {
        ...words[from].functions(names, parameters),
        ...words[from].calls(calls, '{"__proto__":{"y":2}}'),
      });
      assert.equal(reply.status, 200, reply.text);
      for (const name of [...names, '"x"', '"y"']) assert.ok(got?.replaceAll('\\', '').includes(name), `${name}: ${got}`);
    });

    test(`${title}: a call of a function named like a prototype's member is returned under its name`, async () => {
      const speech: Speech = speeches[to];
      for (const name of ['__proto__', 'constructor']) {
        const said =
          speech.start +
          speech.beginCall(0, name, name) +
          speech.callArguments(0, '{"__proto__":{"x":1}}') +
          speech.endCall(0, name, name, '{"__proto__":{"x":1}}') +
          speech.finish;
        const reply = await bench.send(modeOf(from, true), to, streams(said), {
          body: words[from].functions([name], anyObject) as Record<string, unknown>,
        });
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.text, modeOf(from).api.terminal);
        assert.ok(reply.text.includes(`"name":"${name}"`), reply.text);
        assert.ok(reply.text.replaceAll('\\', '').includes('{"__proto__":{"x":1}}'), reply.text);
      }
    });

    test(`${title}: repeated ids, results before their calls and results without calls are handled`, async () => {
      const calls = ['a', 'a', 'a'].map((id) => ({ id, name: 'f', input: {} }));
      const reused = await ask(from, to, { ...words[from].functions(['f'], anyObject), ...words[from].calls(calls, 'r') });
      assert.match(String(reused.reply.status), /^(?:200|400)$/, reused.reply.text);
      const [key, list] = Object.entries(words[from].calls([calls[0] as Call], 'r'))[0] as [string, object[]];
      const swapped = await ask(from, to, { ...words[from].functions(['f'], anyObject), [key]: [list[0], list[2], list[1]] });
      assert.match(String(swapped.reply.status), /^(?:200|400)$/, swapped.reply.text);
      const orphan = await ask(from, to, { ...words[from].functions(['f'], anyObject), [key]: [list[0], list[2]] });
      assert.equal(orphan.reply.status, 400, orphan.reply.text);
      assert.ok(new RegExp(key).test(orphan.reply.text), `the field is named: ${orphan.reply.text}`);
      assert.equal(orphan.got, undefined);
    });

    test(`${title}: ten thousand functions`, async () => {
      const names = Array.from({ length: 10_000 }, (_, at) => `function_${at}`);
      const { reply, got, ms } = await ask(from, to, words[from].functions(names, anyObject));
      assert.match(String(reply.status), /^(?:200|400)$/, reply.text.slice(0, 300));
      if (reply.status === 200) for (const name of ['function_0', 'function_9999']) assert.ok(got?.includes(`"${name}"`), name);
      // Quadratic work would take minutes; translated-complexity.timing measures the exact cost.
      assert.ok(ms < 20_000, `${ms} ms`);
    });

    test(`${title}: a forged proof of reasoning does not reach the upstream`, async () => {
      for (const proof of [
        wrapProof({ origin: 'elsewhere', blob: 'forged-blob' }),
        `gw1.${'A'.repeat(1_000_000)}`,
        `gw1.${Buffer.from([0xff, 0xfe, 0]).toString('base64url')}`,
        'gw1.',
        wrapProof({ origin: '__proto__', blob: '\0\ud800' }),
      ]) {
        const { reply, got } = await ask(from, to, withProof(from, proof));
        assert.match(String(reply.status), /^(?:200|400)$/, reply.text.slice(0, 300));
        assert.doesNotMatch(got ?? '', /gw1\.|forged-blob|AAAAAAAAAAAAAAAA/, title);
      }
    });
  }

  test("too many stop sequences are refused with the field's name, and a few are applied", async () => {
    for (const sequences of [Array.from({ length: 1000 }, (_, at) => `${'a'.repeat(10_000)}${at}`), ['b'.repeat(20_000)]]) {
      const { reply, got } = await ask('anthropic-messages', 'openai-responses', { stop_sequences: sequences });
      assert.equal(reply.status, 400, reply.text.slice(0, 300));
      assert.match(reply.text, /stop_sequences/);
      assert.equal(got, undefined);
    }
    const watched = await ask('anthropic-messages', 'openai-responses', {
      stop_sequences: ['rd', ...Array.from({ length: 31 }, (_, at) => `none ${at}`)],
    });
    assert.deepEqual(
      [watched.reply.status, /"text":"wo"/.test(watched.reply.text), /"stop_sequence":"rd"/.test(watched.reply.text)],
      [200, true, true],
    );
  });

  test('strict translation never ends a reply that has begun', async () => {
    for (const { from, to, title } of pairs) {
      const mode = modeOf(from, true);
      const { start, text, beginCall, callArguments, endCall, finish } = speeches[to];
      const said = start + text('words') + beginCall(0, 'c', 'f') + callArguments(0, '{nope') + endCall(0, 'c', 'f', '"nope"') + finish;
      const reply = await bench.send(mode, to, streams(said), { headers: { 'x-weir-strict': 'true' } });
      assert.ok(reply.status === 400 || mode.api.terminal.test(reply.text), `${title}: ${reply.status} ${reply.text}`);
    }
  });

  test('afterwards nothing unexpected and no secret was printed', () => {
    assert.doesNotMatch(
      bench.weir.output(),
      /unhandled|uncaught|failed inside the gateway|reading a reply failed|malformed stream events|TypeError|RangeError|forged-blob/i,
    );
    assert.ok(!bench.weir.output().includes(upstreamKey));
  });
});

/** A conversation whose assistant has a proof in the field that its dialect has for one. */
function withProof(dialect: DialectId, proof: string): object {
  const [user, next] = ['Hi', 'And now?'];
  switch (dialect) {
    case 'anthropic-messages':
      return {
        messages: [
          { role: 'user', content: user },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm', signature: proof },
              { type: 'redacted_thinking', data: proof },
              { type: 'text', text: 'Yes' },
            ],
          },
          { role: 'user', content: next },
        ],
      };
    case 'openai-responses':
      return {
        input: [
          { role: 'user', content: user },
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: proof },
          { role: 'assistant', content: 'Yes' },
          { role: 'user', content: next },
        ],
      };
    case 'openai-chat':
      return {
        messages: [
          { role: 'user', content: user },
          {
            role: 'assistant',
            content: 'Yes',
            reasoning_details: [{ type: 'reasoning.encrypted', data: proof, format: 'x', index: 0 }],
            extra_content: { google: { thought_signature: proof } },
          },
          { role: 'user', content: next },
        ],
      };
    case 'gemini-generate-content':
      return {
        contents: [
          { role: 'user', parts: [{ text: user }] },
          { role: 'model', parts: [{ text: 'Yes', thoughtSignature: Buffer.from(proof).toString('base64') }] },
          { role: 'user', parts: [{ text: next }] },
        ],
      };
  }
}
