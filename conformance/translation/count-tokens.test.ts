import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { post } from '../support/http.ts';
import { modelName, startTranslationBench, type TranslationBench } from './bench.ts';
import { upstreamDialects } from './upstreams/upstreams.ts';

/** Token counts of clients, at upstreams that have another count or none. */
let bench: TranslationBench;
before(async () => {
  bench = await startTranslationBench();
});
after(() => bench[Symbol.asyncDispose]());

const text = 'How many tokens are these words, and who counts them?';

/** The two interfaces with a token count. */
const counters = [
  {
    title: 'Messages',
    own: 'anthropic-messages',
    path: () => '/v1/messages/count_tokens',
    body: (model: string) => ({ model, system: 'Be brief.', messages: [{ role: 'user', content: text }] }),
    count: (json: any) => json.input_tokens,
  },
  {
    title: 'Generate content',
    own: 'gemini-generate-content',
    path: (model: string) => `/v1beta/models/${model}:countTokens`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    count: (json: any) => json.totalTokens,
  },
] as const;

for (const { title, own, path, body, count } of counters) {
  for (const to of upstreamDialects) {
    test(`${title}: tokens for an upstream of ${to} are counted by the upstream if it can, and the answer says so`, async () => {
      const model = modelName('plain', to);
      const { weir } = bench;
      const headers = { authorization: `Bearer ${weir.apiKey}`, 'anthropic-version': '2023-06-01' };
      const answer = await post(weir.gatewayUrl + path(model), body(model), headers);
      assert.equal(answer.status, 200, answer.text);
      const tokens = count(answer.json);
      // The simulated vendors and the estimate count four characters per token.
      assert.ok(Math.abs(tokens - text.length / 4) <= 8, `${tokens} tokens`);
      const expected = to === own ? undefined : to === 'openai-chat' ? 'estimate' : 'upstream';
      assert.equal(answer.headers['x-weir-token-count'], expected);
    });
  }
}
