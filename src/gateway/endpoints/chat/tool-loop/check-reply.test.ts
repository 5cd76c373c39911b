import type { ReplyCheck } from '../../../settings/call-settings.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { CallFacts } from '../../../../inference/call-facts.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceEvent } from '../../../../inference/inference-event.ts';
import type { InferenceRequest } from '../../../../inference/inference-request.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import type { DialectId } from '../../../../dialects/dialect-id.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { checkInProcess, settle, startLoop } from './testing/fake-loop.ts';
import { chooseReplyCheck, createSchemaCheck, HeldText } from './check-reply.ts';

const schema = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'], additionalProperties: false };

const facts: CallFacts = { requestedModel: 'm', stream: false, inputCharacters: 1, needs: [], strictSchema: true };
const target = (vendor: string, dialects: readonly string[], structuredOutput: boolean): Target =>
  ({ upstream: { vendor: { id: vendor }, dialects, traitsOf: () => ({ structuredOutput }) }, upstreamModel: 'm' }) as unknown as Target;

const repairing = { schema, repairs: true, field: 'text.format', checker: checkInProcess, tenant: 'ann' };

const choices: readonly (readonly [string, ReplyCheck, Target, string | undefined])[] = [
  ['translated', 'auto', target('openai', ['openai-chat'], true), 'auto'],
  ['passed through', 'auto', target('openai-compatible', ['openai-responses'], true), undefined],
  ['requested by the operator', 'report', target('openai', ['openai-responses'], true), 'report'],
  ['switched off', 'off', target('openai-compatible', ['openai-chat'], false), undefined],
];
for (const [title, mode, chosen, expected] of choices) {
  test(`a strict schema with mode ${mode}, ${title}, has the check ${expected ?? 'none'}`, () => {
    assert.equal(chooseReplyCheck(facts, 'openai-responses', [chosen], mode), expected);
    const { strictSchema: _strict, ...loose } = facts;
    assert.equal(chooseReplyCheck(loose, 'openai-responses', [chosen], mode), undefined);
  });
}

type Case = readonly [title: string, dialect: DialectId, traits: object, request: Partial<InferenceRequest>, isChecked: boolean];

const of = (members: JsonObject): JsonObject => ({ ...schema, properties: { age: { type: 'integer', ...members } } });
const format = (members: JsonObject, strict?: true): Partial<InferenceRequest> => ({
  outputFormat: { kind: 'json-schema', schema: of(members), ...(strict === undefined ? {} : { strict }) },
});
const fromGemini = { dialect: 'gemini-generate-content' };
const able = { structuredOutput: true, jsonSchemaTools: true, mixesTools: true };

const cases: readonly Case[] = [
  ['a forced tool replaces the format', 'anthropic-messages', { structuredOutput: false }, format({}), true],
  ['the vendor compiles every rule', 'anthropic-messages', able, format({}), false],
  ['a bound is only described to the model', 'anthropic-messages', able, format({ minimum: 0 }), true],
  ['a pattern is only described to the model', 'anthropic-messages', able, format({ type: 'string', pattern: '^a' }), true],
  ['JSON is only described to the model', 'anthropic-messages', able, { outputFormat: { kind: 'json', isObject: true } }, true],
  ['the client sent it as strict', 'openai-responses', able, { ...format({ minimum: 0 }, true), dialect: 'openai-chat' }, false],
  ['it can be sent as strict', 'openai-chat', able, { ...format({ minimum: 0 }), ...fromGemini }, false],
  ['the vendor does not enforce it', 'openai-responses', able, { ...format({ type: 'string', minLength: 2 }), ...fromGemini }, true],
  ['the vendor has a JSON mode', 'openai-responses', able, { outputFormat: { kind: 'json', isObject: true } }, false],
  ['a server may not have a JSON mode', 'openai-chat', { structuredOutput: false }, { outputFormat: { kind: 'json' } }, true],
  ['the vendor enforces bounds', 'gemini-generate-content', able, format({ minimum: 0, maximum: 9 }), false],
  ['the vendor ignores a pattern', 'gemini-generate-content', able, format({ type: 'string', pattern: '^a' }), true],
  ['a model supports a subset of schemas', 'gemini-generate-content', { ...able, jsonSchemaTools: false }, format({ not: {} }), true],
  ['JSON may be another value than an object', 'gemini-generate-content', able, { outputFormat: { kind: 'json', isObject: true } }, true],
];
for (const [title, dialect, traits, request, isChecked] of cases) {
  test(`a translated reply from ${dialect} is ${isChecked ? 'checked' : 'not checked'} by default if ${title}`, () => {
    const decoded: InferenceRequest = {
      model: 'm',
      stream: false,
      instructions: [],
      turns: [],
      tools: [],
      sampling: {},
      vendorFields: [],
      ...request,
    };
    const targets = [{ upstream: { dialects: [dialect], traitsOf: () => traits }, upstreamModel: 'm' } as unknown as Target];
    const check = createSchemaCheck(decoded, 'auto', { ...repairing, targets });
    assert.deepEqual([check !== undefined, check?.repairs ?? true], [isChecked, true]);
  });
}

describe('a reply that is checked', () => {
  test('a checked reply that fits is shown when it is complete', async () => {
    const call = await startLoop({ tools: [], check: repairing, dialect: 'openai-responses' });
    await call.say('{"age":36}');
    assert.match(call.response.text(), /response\.completed/);
    assert.equal(call.sent.length, 1);
  });

  test('a reply that does not fit is requested once more, and the client sees only the one that fits', async () => {
    const call = await startLoop({ tools: [], check: repairing, dialect: 'openai-responses' });
    await call.say('{"age":"old"}');
    assert.doesNotMatch(call.response.text(), /old/);
    assert.match(JSON.stringify(call.lastRequest().messages), /\/age: must be integer/);
    await call.say('{"age":36}');
    assert.match(call.response.text(), /36/);
    assert.doesNotMatch(call.response.text(), /old/);
    assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.2 finished']);
  });

  test('a reply that does not fit a second time is an error with a status', async () => {
    const call = await startLoop({ tools: [], check: repairing, dialect: 'openai-responses' });
    await call.say('I am 36.');
    await call.say('I said that I am 36.');
    assert.equal(call.response.status, 502);
    assert.match(call.response.text(), /does not fit the JSON schema/);
    assert.doesNotMatch(call.response.text(), /I am 36|I said/);
    assert.equal(call.sent.length, 2);
  });

  test('a reply that does not fit is an error at once if repairs are off', async () => {
    const call = await startLoop({ tools: [], check: { ...repairing, repairs: false }, stream: false });
    await call.say('I am 36.');
    assert.equal(call.response.status, 502);
    assert.equal(call.sent.length, 1);
  });

  test('a reply is checked after its tools have run', async () => {
    const call = await startLoop({ check: repairing, dialect: 'openai-responses' });
    await call.call(['web_search', { query: 'age' }, 'c1']);
    await call.say('{"age":"old"}');
    await call.say('{"age":36}');
    assert.match(call.response.text(), /response\.completed/);
    assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 finished', 'req_1.3 finished']);
  });

  test('a reply that cannot be checked is delivered, and the client and the log are notified', async () => {
    const checker = {
      ...checkInProcess,
      check: () => Promise.resolve({ kind: 'unchecked', reason: 'checking the reply takes too long' } as const),
    };
    for (const stream of [true, false]) {
      const call = await startLoop({ tools: [], check: { ...repairing, checker }, dialect: 'openai-responses', stream });
      await call.say('{"age":"old"}');
      assert.equal(call.response.status, 200);
      assert.match(call.response.text(), /old/);
      assert.equal(
        call.response.headers['x-gateway-warning'],
        'unchecked text.format (the reply was not checked: checking the reply takes too long)',
      );
    }
  });

  test('a schema that cannot be compiled is reported before reasoning is shown', async () => {
    const unable = { kind: 'unchecked', reason: 'the schema is too large' } as const;
    const checker = { check: () => Promise.resolve(unable), prepare: () => Promise.resolve(unable) };
    const call = await startLoop({ tools: [], check: { ...repairing, checker }, dialect: 'anthropic-messages' });
    await call.say('{}');
    assert.match(String(call.response.headers['x-gateway-warning']), /^unchecked text\.format \([^,]*too large\)$/, 'once');
  });

  test('a check that ends with its call never counts as passed', async () => {
    const checker = {
      ...checkInProcess,
      check: (_text: string, _schema: JsonObject, { signal }: { readonly signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    };
    const call = await startLoop({ tools: [], check: { ...repairing, checker }, dialect: 'openai-responses', stream: false });
    await call.say('{"age":"old"}');
    call.loop.terminate(new GatewayError('upstream_timeout', 'too late'));
    await settle();
    assert.equal(call.response.status, 504);
    assert.doesNotMatch(call.response.text(), /old/);
  });
});

test('log probabilities of tokens are held together with their text', () => {
  const text: readonly InferenceEvent[] = [
    { type: 'logprobs', tokens: [{ token: '{}', logprob: -1, alternatives: [] }] },
    { type: 'block-started', index: 0, block: { kind: 'text' } },
    { type: 'delta', index: 0, text: '{}' },
  ];
  const checked = new HeldText(true);
  assert.deepEqual(
    text.flatMap((event) => checked.pass(event)),
    [],
  );
  assert.deepEqual(checked.release(), text);
  const free = new HeldText(false);
  assert.deepEqual(
    text.flatMap((event) => free.pass(event)),
    text,
  );
});
