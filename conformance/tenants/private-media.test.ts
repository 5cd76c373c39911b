import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { post } from '../support/http.ts';
import { chatInterfaces } from '../support/interfaces.ts';
import { serveWeir } from '../support/serve-weir.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

const metadataService = 'http://169.254.169.254/latest/meta-data/iam.png';

const textBody = { text: 'What is this?' } as const;
const requests: Readonly<Record<string, (url: string) => Record<string, unknown>>> = {
  'anthropic-messages': (url) => ({
    max_tokens: 50,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', ...textBody },
          { type: 'image', source: { type: 'url', url } },
        ],
      },
    ],
  }),
  'openai-responses': (url) => ({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', ...textBody },
          { type: 'input_image', image_url: url },
        ],
      },
    ],
  }),
  'openai-chat': (url) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', ...textBody },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
  }),
};

const models = chatInterfaces.map(({ model }) => model);
/** Generate-content accepts no addresses at all (contract C, 4.1). */
const interfaces = chatInterfaces.filter(({ dialect }) => dialect !== 'gemini-generate-content');

describe('media in private networks', () => {
  let weir: ServedWeir;
  let trusting: ServedWeir;
  before(async () => {
    [weir, trusting] = await Promise.all([
      serveWeir({ monitor: false, config: JSON.stringify({ overload: neverOverloaded }) }),
      serveWeir({ monitor: false, config: JSON.stringify({ overload: neverOverloaded, media: { privateAddresses: true } }) }),
    ]);
  });
  after(async () => {
    await weir[Symbol.asyncDispose]();
    await trusting[Symbol.asyncDispose]();
  });

  const ask = (at: ServedWeir, path: string, body: unknown, headers: Record<string, string> = {}) =>
    post(`${at.gatewayUrl}${path}`, body, { ...headers, authorization: `Bearer ${at.apiKey}` });

  for (const api of interfaces)
    test(`${api.dialect}: an image in a private network is refused on every upstream, before anything is sent`, async () => {
      for (const model of models) {
        const body = { model, ...requests[api.dialect]?.(metadataService) };
        const answer = await ask(weir, api.path(model), body, api.headers);
        assert.equal(answer.status, 400, `${model}: ${answer.text}`);
        assert.match(answer.text, /private network/, model);
      }
    });

  for (const api of interfaces)
    test(`${api.dialect}: the same image passes to a vendor of this interface if the operator allows it`, async () => {
      const body = {
        model: api.model,
        ...requests[api.dialect]?.('http://127.0.0.1:9/a.png'),
      };
      const answer = await ask(trusting, api.path(api.model), body, api.headers);
      assert.doesNotMatch(answer.text, /private network/);
      assert.equal(answer.status, 200, answer.text);
    });

  test('an image or video in a private network is refused before a video is made', async () => {
    for (const [param, fields] of [
      ['image', { image: metadataService }],
      ['images\\[1\\]', { images: ['https://example.com/a.png', 'http://redis/b.png'] }],
      ['video', { metadata: { video: 'http://[::1]/a.mp4' } }],
    ] as const) {
      const answer = await ask(weir, '/v1/video/generations', { model: 'vendor-imagine-video', prompt: 'A river', ...fields });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, new RegExp(`'${param}'.*private network`));
    }
  });
});
