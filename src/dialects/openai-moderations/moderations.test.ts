import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { judgementSchema, readJudgement, writeJudgement, writeModerationReply } from './judge-by-chat.ts';
import { readModerationReply } from './read-moderation-reply.ts';
import { readModerationRequest } from './read-moderation-request.ts';

const { input_1: one } = judgementSchema(1)['properties'] as Readonly<Record<string, JsonObject>>;
const required = one?.['required'] as readonly string[];
const scoresOf = (score: number, others: JsonObject = {}): JsonObject => ({
  ...Object.fromEntries(required.map((name) => [name, score])),
  ...others,
});
const answerOf = (score: number, others: JsonObject = {}): string => JSON.stringify({ input_1: scoresOf(score, others) });
const image = { type: 'image_url', image_url: { url: 'https://a.example/a.png' } };

const inputs: readonly [what: string, input: JsonValue, read: unknown][] = [
  ['a text', 'one', [[{ kind: 'text', text: 'one' }]]],
  ['a list of texts that are judged one by one', ['one', ''], [[{ kind: 'text', text: 'one' }], [{ kind: 'text', text: '' }]]],
  [
    'a list of texts and images that are judged together',
    [{ type: 'text', text: 'one' }, image],
    [
      [
        { kind: 'text', text: 'one' },
        { kind: 'image', url: 'https://a.example/a.png' },
      ],
    ],
  ],
];

for (const [what, input, read] of inputs)
  test(`an input is ${what}`, () => {
    assert.deepEqual(readModerationRequest({ model: 'm', input }, 'documented'), { requestedModel: 'm', inputs: read });
  });

test("a request without a model uses the vendor's default model", () => {
  assert.equal(readModerationRequest({ input: 'x', model: null }, 'compatible').requestedModel, 'omni-moderation-latest');
});

const refused: readonly [what: string, body: JsonObject, param: RegExp, code: string][] = [
  ['no input', {}, /^input$/, 'missing_required_parameter'],
  ['an empty list', { input: [] }, /^input$/, 'empty_array'],
  ['a number', { input: 5 }, /^input$/, 'invalid_type'],
  ['texts beside objects', { input: ['one', image] }, /^input$/, 'invalid_type'],
  ['an image without an address', { input: [{ type: 'image_url', image_url: {} }] }, /^input\[0\]/, 'missing_required_parameter'],
  ['a sound', { input: [{ type: 'audio', audio: 'x' }] }, /^input\[0\]/, 'invalid_value'],
];

for (const [what, body, param, code] of refused)
  test(`a request to judge ${what} is refused with its field and the vendor's code`, () => {
    assert.throws(
      () => readModerationRequest({ model: 'm', ...body }, 'compatible'),
      (error) => {
        assert.ok(error instanceof GatewayError);
        assert.match(error.param ?? '', param);
        assert.deepEqual([error.status, error.details?.['openai_code']], [400, code]);
        return true;
      },
    );
  });

test('unknown categories of a reply are kept', () => {
  const result = { flagged: true, categories: { hate: true, new: false, illicit: null }, category_scores: { hate: 0.9, new: 0.1 } };
  assert.deepEqual(readModerationReply({ id: 'modr-1', model: 'omni', results: [result] }, 1), {
    results: [{ flagged: true, categories: { hate: true, new: false }, scores: { hate: 0.9, new: 0.1 } }],
    servedModel: 'omni',
    replyId: 'modr-1',
  });
});

test('a reply that does not judge every input is invalid', () => {
  const result = { flagged: false, categories: {}, category_scores: {} };
  for (const results of [[], [result, result], [{ ...result, flagged: 'no' }], [{ flagged: false }], 'x'] as JsonValue[])
    assert.equal(readModerationReply({ results }, 1), undefined, JSON.stringify(results));
});

test("the schema of a chat model's answer has member names that all vendors accept", () => {
  assert.equal(required.length, 13);
  for (const name of required) assert.match(name, /^[a-z_]{1,64}$/);
});

test('an answer of a chat model becomes the reply of the interface', () => {
  const [result] = readJudgement(answerOf(0.1, { violence: 0.5, self_harm_intent: 0.49 }), 1) ?? [];
  assert.ok(result);
  const judged = [
    [
      { kind: 'text', text: 'x' },
      { kind: 'image', url: 'https://a.example/' },
    ],
  ] as const;
  const reply = writeModerationReply([result], judged, { id: 'modr-1', model: 'judge' });
  const [written] = reply['results'] as unknown as [Record<string, Record<string, unknown>>];
  assert.equal(written['flagged'], true);
  assert.deepEqual(
    Object.entries(written['categories'] ?? {}).filter(([, flag]) => flag === true),
    [['violence', true]],
  );
  assert.equal(written['category_scores']?.['self-harm/intent'], 0.49);
  assert.deepEqual(written['category_applied_input_types']?.['violence'], ['text', 'image']);
  assert.deepEqual(written['category_applied_input_types']?.['hate'], ['text']);
  assert.deepEqual(readModerationReply(reply, 1)?.results, [result]);
});

test('an answer with a missing or invalid score is not a result', () => {
  const broken = [
    '',
    'I cannot.',
    '[]',
    '{}',
    answerOf(0.1, { hate: 1.5 }),
    answerOf(0.1, { hate: -1 }),
    answerOf(0.1, { hate: '0' }),
    answerOf(0.1, { hate: null }),
  ];
  for (const text of broken) assert.equal(readJudgement(text, 1), undefined, text);
});

test('a result is flagged exactly if one of its categories is', () => {
  const score = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(score, { minLength: 13, maxLength: 13 }), (scores) => {
      const judged = Object.fromEntries(required.map((name, index) => [name, scores[index]]));
      const [result] = readJudgement(JSON.stringify({ input_1: judged }), 1) ?? [];
      assert.ok(result);
      assert.equal(result.flagged, Object.values(result.categories).some(Boolean));
      assert.equal(Object.keys(result.scores).length, 13);
    }),
  );
});

test('one answer judges several inputs, and is invalid if one of them is missing', () => {
  const inputs = ['one', 'two', 'three'].map((text) => [{ kind: 'text' as const, text }]);
  const { turns, outputFormat, outputTokensMax } = writeJudgement(inputs, 'judge');
  const [turn] = turns;
  assert.deepEqual(
    turn?.parts.map((part) => part.kind === 'text' && part.text),
    ['input_1:', 'one', 'input_2:', 'two', 'input_3:', 'three'],
  );
  assert.deepEqual(outputFormat?.kind === 'json-schema' && outputFormat.schema['required'], ['input_1', 'input_2', 'input_3']);
  assert.ok(outputTokensMax > 3 * 13 * 8);
  const answer = { input_3: scoresOf(0.9), input_1: scoresOf(0), input_2: scoresOf(0.1) };
  assert.deepEqual(
    readJudgement(JSON.stringify(answer), 3)?.map(({ flagged }) => flagged),
    [false, false, true],
  );
  const { input_2: _left, ...others } = answer;
  assert.equal(readJudgement(JSON.stringify(others), 3), undefined);
  assert.throws(
    () =>
      writeJudgement(
        Array.from({ length: 17 }, () => [{ kind: 'text', text: 'x' }]),
        'judge',
      ),
    { param: 'input' },
  );
});

test('a chat model receives an image as the client wrote it, inline or by its address', () => {
  const [turn] = writeJudgement(
    [
      [
        { kind: 'image', url: 'data:image/png;base64,AAAA' },
        { kind: 'image', url: 'https://a.example/b.png' },
      ],
    ],
    'judge',
  ).turns;
  assert.deepEqual(
    turn?.parts.map((part) => part.kind === 'media' && part.source),
    [false, { kind: 'inline', mediaType: 'image/png', data: 'AAAA' }, { kind: 'url', url: 'https://a.example/b.png' }],
  );
});
