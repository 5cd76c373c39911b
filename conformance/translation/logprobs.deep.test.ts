import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TraitDifferences } from '../../src/inference/testing/fake-traits.ts';
import { objectsOf } from '../../src/platform/json/json-readers.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { decodeReply } from '../../src/dialects/openai-chat/codec/decode-reply.ts';
import { encode as encodeChat, createReading, decodeChunks } from '../../src/dialects/openai-chat/codec/testing/test-kit.ts';
import { encodeReply } from '../../src/dialects/gemini-generate-content/codec/encode-reply.ts';
import { chunksOf, createWriting, decode, encodeStream } from '../../src/dialects/gemini-generate-content/codec/testing/test-kit.ts';

const asking: JsonObject = { generationConfig: { responseLogprobs: true, logprobs: 2 } };

const asked = (generationConfig: JsonObject, differences: TraitDifferences = {}): Readonly<Record<string, unknown>> => {
  const { body, notes } = encodeChat(decode({ generationConfig }), differences);
  return { logprobs: body.logprobs, top: body.top_logprobs, notes };
};

const lost = (field: string): string => `dropped generationConfig.${field}`;

test('log probabilities are requested from an upstream of chat completions', () => {
  assert.deepEqual(asked({ responseLogprobs: true, logprobs: 2 }), { logprobs: true, top: 2, notes: [] });
  assert.deepEqual(asked({ responseLogprobs: true }), { logprobs: true, top: undefined, notes: [] });
  const many = { logprobs: true, top: 20, notes: ['adapted generationConfig.logprobs'] };
  assert.deepEqual(asked({ responseLogprobs: true, logprobs: 21 }), many);
});

test('log probabilities that the client cannot get are not requested, and named', () => {
  const both = { logprobs: undefined, top: undefined, notes: [lost('responseLogprobs'), lost('logprobs')] };
  const config = { responseLogprobs: true, logprobs: 2 };
  assert.deepEqual(asked(config, { chat: { acceptsLogprobs: false } }), both);
  assert.deepEqual(asked(config, { fixedSampling: true }), both);
  const { notes, ...cut } = asked({ ...config, stopSequences: ['a', 'b', 'c', 'd', 'e'] });
  assert.deepEqual(cut, { logprobs: undefined, top: undefined });
  assert.ok(Array.isArray(notes) && notes.includes(lost('responseLogprobs')), 'the gateway cuts the text');
  const choice = { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } };
  assert.deepEqual(asked({ ...config, ...choice }), both);
  assert.deepEqual(asked({ logprobs: 2 }), { ...both, notes: [lost('logprobs')] });
});

const entry = (token: string, logprob: number): JsonObject => ({
  token,
  logprob,
  bytes: null,
  top_logprobs: [
    { token, logprob, bytes: null },
    { token: 'No', logprob: -3, bytes: null },
  ],
});

const likely = (tokens: readonly (readonly [string, number])[]): JsonObject => ({
  topCandidates: tokens.map(([token, logProbability]) => ({
    candidates: [
      { token, logProbability },
      { token: 'No', logProbability: -3 },
    ],
  })),
  chosenCandidates: tokens.map(([token, logProbability]) => ({ token, logProbability })),
});

const reply = {
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hi there' },
      logprobs: { content: [entry('Hi', -0.25), entry(' there', -0.75)], refusal: null },
      finish_reason: 'stop',
    },
  ],
};

test('a whole reply has the log probabilities of its tokens if the client requested them', () => {
  const decoded = decodeReply(reply, createReading());
  const [candidate] = objectsOf(encodeReply(decoded, createWriting(asking)).candidates);
  assert.deepEqual(
    candidate?.logprobsResult,
    likely([
      ['Hi', -0.25],
      [' there', -0.75],
    ]),
  );
  assert.equal(candidate?.avgLogprobs, -0.5);
  const [unasked] = objectsOf(encodeReply(decoded, createWriting({})).candidates);
  assert.deepEqual([unasked?.logprobsResult, unasked?.avgLogprobs], [undefined, undefined]);
});

test('each chunk of a stream has the log probabilities of its own tokens, and the last the mean of all', () => {
  const chunk = (content: string, logprob: number): JsonObject => ({
    choices: [{ index: 0, delta: { content }, logprobs: { content: [entry(content, logprob)] }, finish_reason: null }],
  });
  const end = { choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] };
  const events = decodeChunks([chunk('Hi', -0.25), chunk(' there', -0.75), end]);
  const reported = chunksOf(encodeStream(events, 'sse', asking)).flatMap(({ candidates }) => objectsOf(candidates));
  assert.deepEqual(
    reported.map(({ logprobsResult, avgLogprobs }) => [logprobsResult, avgLogprobs]),
    [
      [likely([['Hi', -0.25]]), undefined],
      [likely([[' there', -0.75]]), undefined],
      [undefined, -0.5],
    ],
  );
});

test('malformed log probabilities of an upstream are omitted', () => {
  const odd = { content: [null, 5, { token: 'a' }, { token: 1, logprob: 0 }, { token: 'b', logprob: -1, top_logprobs: 'x' }] };
  const decoded = decodeReply({ choices: [{ index: 0, message: { content: 'b' }, logprobs: odd }] }, createReading());
  assert.deepEqual(decoded.logprobs, [{ token: 'b', logprob: -1, alternatives: [] }]);
});
