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
  ['it is translated', 'auto', target('openai', ['openai-chat'], true), 'auto'],
  ['it passes through', 'auto', target('openai-compatible', ['openai-responses'], true), undefined],
  ['it is asked for', 'report', target('openai', ['openai-responses'], true), 'report'],
  ['it is switched off', 'off', target('openai-compatible', ['openai-chat'], false), undefined],
];
for (const [title, wanted, chosen, expected] of choices) {
  test(`a strict schema, ${wanted}, ${title}: ${expected ?? 'no check'}`, () => {
    assert.equal(chooseReplyCheck(facts, 'openai-responses', [chosen], wanted), expected);
    const { strictSchema: _strict, ...loose } = facts;
    assert.equal(chooseReplyCheck(loose, 'openai-responses', [chosen], wanted), undefined);
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
  ['a forced tool stands in', 'anthropic-messages', { structuredOutput: false }, format({}), true],
  ['the vendor compiles every rule', 'anthropic-messages', able, format({}), false],
  ['a bound is only said in words', 'anthropic-messages', able, format({ minimum: 0 }), true],
  ['a pattern is only said in words', 'anthropic-messages', able, format({ type: 'string', pattern: '^a' }), true],
  ['JSON is only asked for', 'anthropic-messages', able, { outputFormat: { kind: 'json', isObject: true } }, true],
  ['the client had it strict', 'openai-responses', able, { ...format({ minimum: 0 }, true), dialect: 'openai-chat' }, false],
  ['it can be sent as strict', 'openai-chat', able, { ...format({ minimum: 0 }), ...fromGemini }, false],
  ['the vendor is not strict with it', 'openai-responses', able, { ...format({ type: 'string', minLength: 2 }), ...fromGemini }, true],
  ['JSON mode is the vendor’s own', 'openai-responses', able, { outputFormat: { kind: 'json', isObject: true } }, false],
  ['a server may not know JSON mode', 'openai-chat', { structuredOutput: false }, { outputFormat: { kind: 'json' } }, true],
  ['the vendor holds bounds', 'gemini-generate-content', able, format({ minimum: 0, maximum: 9 }), false],
  ['the vendor passes over a pattern', 'gemini-generate-content', able, format({ type: 'string', pattern: '^a' }), true],
  ['a model knows a subset of schemas', 'gemini-generate-content', { ...able, jsonSchemaTools: false }, format({ not: {} }), true],
  ['JSON may be no object', 'gemini-generate-content', able, { outputFormat: { kind: 'json', isObject: true } }, true],
];
for (const [title, dialect, traits, request, isChecked] of cases) {
  test(`a translated reply from ${dialect} is ${isChecked ? 'checked' : 'not checked'} by default where ${title}`, () => {
    const asked: InferenceRequest = {
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
    const check = createSchemaCheck(asked, 'auto', { ...repairing, targets });
    assert.deepEqual([check !== undefined, check?.repairs ?? true], [isChecked, true]);
  });
}

describe('a reply that is checked', () => {
  test('that fits is shown when it is whole', async () => {
    const call = await startLoop({ tools: [], check: repairing, dialect: 'openai-responses' });
    await call.say('{"age":36}');
    assert.match(call.response.text(), /response\.completed/);
    assert.equal(call.sent.length, 1);
  });

  test('that does not fit is asked for once more, and the client sees only the one that does', async () => {
    const call = await startLoop({ tools: [], check: repairing, dialect: 'openai-responses' });
    await call.say('{"age":"old"}');
    assert.doesNotMatch(call.response.text(), /old/);
    assert.match(JSON.stringify(call.asked().messages), /\/age: must be integer/);
    await call.say('{"age":36}');
    assert.match(call.response.text(), /36/);
    assert.doesNotMatch(call.response.text(), /old/);
    assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.2 finished']);
  });

  test('that does not fit a second time is an error with a status', async () => {
    const call = await startLoop({ tools: [], check: repairing, dialect: 'openai-responses' });
    await call.say('I am 36.');
    await call.say('I said that I am 36.');
    assert.equal(call.response.status, 502);
    assert.match(call.response.text(), /does not fit the JSON schema/);
    assert.doesNotMatch(call.response.text(), /I am 36|I said/);
    assert.equal(call.sent.length, 2);
  });

  test('is an error at once where that is wanted', async () => {
    const call = await startLoop({ tools: [], check: { ...repairing, repairs: false }, stream: false });
    await call.say('I am 36.');
    assert.equal(call.response.status, 502);
    assert.equal(call.sent.length, 1);
  });

  test('is checked after its tools have run', async () => {
    const call = await startLoop({ check: repairing, dialect: 'openai-responses' });
    await call.call(['web_search', { query: 'age' }, 'c1']);
    await call.say('{"age":"old"}');
    await call.say('{"age":36}');
    assert.match(call.response.text(), /response\.completed/);
    assert.deepEqual(call.rows(), ['req_1 finished', 'req_1.1.tools finished', 'req_1.2 finished', 'req_1.3 finished']);
  });

  test('that cannot be checked stands, and the client and the log are told', async () => {
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

  test('whose schema cannot be compiled is known before thoughts are shown', async () => {
    const unable = { kind: 'unchecked', reason: 'the schema is too large' } as const;
    const checker = { check: () => Promise.resolve(unable), prepare: () => Promise.resolve(unable) };
    const call = await startLoop({ tools: [], check: { ...repairing, checker }, dialect: 'anthropic-messages' });
    await call.say('{}');
    assert.match(String(call.response.headers['x-gateway-warning']), /^unchecked text\.format \([^,]*too large\)$/, 'once');
  });

  test('is given up with its call, and never taken for one that fits', async () => {
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

test('how likely tokens were is held with the text that they are of', () => {
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
