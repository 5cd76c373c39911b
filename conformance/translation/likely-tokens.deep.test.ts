import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { membersOf, objectsOf } from '../../src/platform/json/json-readers.ts';
import type { JsonObject } from '../../src/platform/json/json-value.ts';
import { saying } from '../sdk/steer.ts';
import { post } from '../support/http.ts';
import { modelName, startTranslationBench, type TranslationBench } from './bench.ts';

const text = 'Weirs hold the water back 🌊 and let the rest go.';

/** A token in both dialects: its text, its probability, and its alternatives. */
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
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: {'))
    .map((line): JsonObject => JSON.parse(line.slice('data: '.length)));

/** A client of each dialect with log probabilities: its request, and its parser. */
type Client = {
  readonly path: (model: string, stream: boolean) => string;
  readonly body: (model: string, stream: boolean, asks: boolean) => object;
  readonly read: (replies: readonly JsonObject[]) => readonly Told[];
};

const prompt = 'Hello';

/** The log probabilities of a stream's events, of the part, and of the response at its end. */
function responseTokens(replies: readonly JsonObject[]): readonly Told[] {
  const partsOf = (response: unknown): readonly JsonObject[] =>
    objectsOf(membersOf(response)['output']).flatMap(({ content }) => objectsOf(content));
  const tokensOf = ({ logprobs }: JsonObject): readonly Told[] => chatTokens({ logprobs: { content: logprobs ?? [] } });
  if (replies.length === 1) return partsOf(replies[0]).flatMap(tokensOf);
  const reported = replies.filter(({ type }) => type === 'response.output_text.delta').flatMap(tokensOf);
  for (const { type, response, part, ...event } of replies) {
    if (type === 'response.output_text.done') assert.deepEqual(tokensOf(event), reported);
    if (type === 'response.content_part.done') assert.deepEqual(tokensOf(membersOf(part)), reported);
    if (type === 'response.completed') assert.deepEqual(partsOf(response).flatMap(tokensOf), reported);
  }
  return reported;
}

const clients: Readonly<Record<'openai-chat' | 'openai-responses' | 'gemini-generate-content', Client>> = {
  'openai-chat': {
    path: () => '/v1/chat/completions',
    body: (model, stream, asks) => ({
      model,
      messages: [{ role: 'user', content: prompt }],
      stream,
      ...(asks && { logprobs: true, top_logprobs: 2 }),
    }),
    read: (replies) => replies.flatMap(({ choices }) => objectsOf(choices).flatMap(chatTokens)),
  },
  'openai-responses': {
    path: () => '/v1/responses',
    body: (model, stream, asks) => ({
      model,
      input: prompt,
      stream,
      ...(asks && { include: ['message.output_text.logprobs'], top_logprobs: 2 }),
    }),
    read: responseTokens,
  },
  'gemini-generate-content': {
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (_model, _stream, asks) => ({
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: asks ? { responseLogprobs: true, logprobs: 2 } : {},
    }),
    read: (replies) => {
      const candidates = replies.flatMap((reply) => objectsOf(reply['candidates']));
      const reported = candidates.flatMap(generateTokens);
      const mean = reported.reduce((sum, [, logprob]) => sum + Number(logprob), 0) / Math.max(1, reported.length);
      assert.ok(Math.abs(Number(candidates.at(-1)?.['avgLogprobs'] ?? 0) - mean) < 1e-9);
      return reported;
    },
  },
};

function assertTold(reported: readonly Told[]): void {
  assert.equal(reported.map(([token]) => token).join(''), text);
  for (const [token, logprob, others] of reported) {
    assert.ok(typeof logprob === 'number' && logprob < 0);
    assert.deepEqual(others, [
      [token, logprob],
      ['~1', logprob - 1],
    ]);
  }
}

describe('log probabilities of text tokens', () => {
  let bench: TranslationBench;
  before(async () => {
    bench = await startTranslationBench({ model: { stopSequences: 'gateway' } });
  });
  after(() => bench[Symbol.asyncDispose]());

  const ask = async (path: string, body: object) => {
    const { gatewayUrl, apiKey } = bench.weir;
    const steering = saying(text, { pace: 'tokensPerFrame=2' }).headers;
    const answer = await post(gatewayUrl + path, body, { authorization: `Bearer ${apiKey}`, ...steering });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };

  const ids = Object.keys(clients) as readonly (keyof typeof clients)[];
  for (const from of ids)
    for (const to of ids.filter((other) => other !== from))
      for (const stream of [false, true]) {
        const how = stream ? 'streamed' : 'whole';
        test(`they reach a client of ${from} from an upstream of ${to} if it requests them, ${how}`, async () => {
          const { path, body, read } = clients[from];
          const model = modelName('plain', to);
          const answer = await ask(path(model, stream), body(model, stream, true));
          assert.equal(answer.headers['x-gateway-warning'], undefined, 'nothing is lost');
          assertTold(read(stream ? eventsOf(answer.text) : [answer.json]));
          const unasked = await ask(path(model, stream), body(model, stream, false));
          assert.deepEqual(read(stream ? eventsOf(unasked.text) : [unasked.json]), []);
        });
      }

  test('they are omitted for a text that the gateway cuts, and the client is notified', async () => {
    for (const to of ['openai-responses', 'gemini-generate-content'] as const) {
      const model = modelName('plain', to);
      const answer = await ask('/v1/chat/completions', { ...clients['openai-chat'].body(model, false, true), stop: ['back'] });
      assert.deepEqual(clients['openai-chat'].read([answer.json]), []);
      assert.match(String(answer.headers['x-gateway-warning']), /dropped logprobs/, to);
      assert.match(answer.text, /Weirs hold the water /);
      assert.doesNotMatch(answer.text, /rest/);
    }
  });
});
