import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { membersOf, objectsOf } from '../../src/platform/json/json-readers.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { saying } from '../sdk/steer.ts';
import { post } from '../support/http.ts';
import { modelName, startTranslationBench, type TranslationBench } from './bench.ts';

const text = 'Weirs hold the water back 🌊 and let the rest go.';

/** A token as both dialects tell it: the token, how likely it was, and what else might have stood there. */
type Told = readonly [token: unknown, logprob: unknown, others: readonly (readonly [token: unknown, logprob: unknown])[]];

const chatTokens = (choice: JsonObject): readonly Told[] =>
  objectsOf(membersOf(choice['logprobs'])['content']).map((entry): Told => {
    assert.ok(typeof entry['token'] === 'string');
    assert.deepEqual(entry['bytes'], [...Buffer.from(entry['token'])]);
    return [entry['token'], entry['logprob'], objectsOf(entry['top_logprobs']).map(({ token, logprob }) => [token, logprob] as const)];
  });

function generateTokens({ logprobsResult }: JsonObject): readonly Told[] {
  const { chosenCandidates, topCandidates } = membersOf(logprobsResult);
  const others = objectsOf(topCandidates);
  return objectsOf(chosenCandidates).map(({ token, logProbability }, at): Told => [
    token,
    logProbability,
    objectsOf(others[at]?.['candidates']).map((other) => [other['token'], other['logProbability']] as const),
  ]);
}

const eventsOf = (body: string): readonly JsonObject[] =>
  body
    .split(/\r?\n\r?\n/)
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame): JsonObject => JSON.parse(frame.slice('data: '.length)));

describe('how likely the tokens of a text were', () => {
  let bench: TranslationBench;
  before(async () => {
    bench = await startTranslationBench();
  });
  after(() => bench[Symbol.asyncDispose]());

  const ask = async (path: string, body: object): Promise<{ readonly text: string; readonly json: JsonObject }> => {
    const { gatewayUrl, apiKey } = bench.weir;
    const steering = saying(text, { pace: 'tokensPerFrame=2' }).headers;
    const answer = await post(gatewayUrl + path, body, { authorization: `Bearer ${apiKey}`, ...steering });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers['x-gateway-warning'], undefined, 'nothing is lost');
    return { text: answer.text, json: answer.json };
  };
  const assertTold = (told: readonly Told[]): void => {
    assert.equal(told.map(([token]) => token).join(''), text);
    for (const [token, logprob, others] of told) {
      assert.ok(typeof logprob === 'number' && logprob < 0);
      assert.deepEqual(others, [
        [token, logprob],
        ['~1', logprob - 1],
      ]);
    }
  };

  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole';
    test(`reaches a client of chat completions from a generate-content upstream, ${how}`, async () => {
      const messages = [{ role: 'user', content: 'Hello' }];
      const model = modelName('plain', 'gemini-generate-content');
      const answer = await ask('/v1/chat/completions', { model, messages, stream, logprobs: true, top_logprobs: 2 });
      const replies = stream ? eventsOf(answer.text) : [answer.json];
      assertTold(replies.flatMap(({ choices }) => objectsOf(choices).flatMap(chatTokens)));
      const unasked = await ask('/v1/chat/completions', { model, messages, stream });
      assert.doesNotMatch(unasked.text, /"logprobs":[^n]/);
    });

    test(`reaches a client of generate content from an upstream of chat completions, ${how}`, async () => {
      const model = modelName('plain', 'openai-chat');
      const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
      const path = `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
      const answer = await ask(path, { contents, generationConfig: { responseLogprobs: true, logprobs: 2 } });
      const replies = stream ? eventsOf(answer.text) : [answer.json];
      const candidates = replies.flatMap((reply) => objectsOf(reply['candidates']));
      const told = candidates.flatMap(generateTokens);
      assertTold(told);
      const mean = told.reduce((sum, [, logprob]) => sum + Number(logprob), 0) / told.length;
      assert.ok(Math.abs(Number(candidates.at(-1)?.['avgLogprobs']) - mean) < 1e-9);
    });
  }
});
