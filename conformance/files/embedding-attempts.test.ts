import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI, { toFile } from 'openai';

import { type AudioWeir, startAudioWeir } from '../audio/audio-weir.ts';
import { type Answer, sendJson } from '../audio/start-audio-upstream.ts';
import { eventually } from '../support/http.ts';

const model = 'text-embedding-3-small';
const data = [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }];
const usage = { prompt_tokens: 1, total_tokens: 1 };
const made: Answer = (_, response) => {
  response.setHeader('openai-processing-ms', '7');
  sendJson(response, 200, { object: 'list', model, data, usage });
};

/** Faults of an upstream that its client never notices: the next attempt succeeds. */
const faults: Readonly<Record<string, Answer>> = {
  'status 500': (_, response) => sendJson(response, 500, { error: { message: 'broken' } }),
  'status 429': (_, response) => sendJson(response, 429, { error: { message: 'slow down' } }),
  'a reset before the head': (_, response) => void response.destroy(),
  'an error in JSON as 200': (_, response) => sendJson(response, 200, { error: { message: 'the model is loading', code: 503 } }),
  'a reply without embeddings': (_, response) => sendJson(response, 200, { object: 'list', model, usage }),
  'an invalid vector': (_, response) => sendJson(response, 200, { data: [{ embedding: { x: 1 } }], usage }),
};

describe('the attempts of a call for embeddings', () => {
  let running: AudioWeir;
  before(async () => {
    running = await startAudioWeir(made, {
      config: { retries: { attemptsMax: 3, avoidFailing: false }, tools: { fileSearch: { embeddings: { model: 'searched' } } } },
      models: {
        searched: { targets: [{ upstream: 'server', model }] },
        embedder: { targets: [{ upstream: 'vendor', model }] },
        both: {
          targets: [
            { upstream: 'vendor', model },
            { upstream: 'server', model },
          ],
        },
      },
    });
  });
  after(() => running[Symbol.asyncDispose]());

  /**
   * Makes one call, where the first answer of the first upstream is replaced. Resolves with the requests and answers.
   */
  const ask = async (name: string, first: Answer) => {
    const { upstream, second, client, rows } = running;
    const calls = [upstream.calls.length, second.calls.length] as const;
    const count = (await rows(0)).length;
    upstream.answer = (call, response) => {
      upstream.answer = made;
      return first(call, response);
    };
    const asked = await client.embeddings
      .create({ model: name, input: 'x', encoding_format: 'float' })
      .withResponse()
      .catch((error: unknown) => error);
    const row = (await rows(count + 1)).at(-1);
    return { asked, row, first: upstream.calls.slice(calls[0]), second: second.calls.slice(calls[1]) };
  };

  for (const [name, fault] of Object.entries(faults))
    test(`${name} of the only target: it is retried once, and the call is charged once`, async () => {
      const { asked, row, first } = await ask('embedder', fault);
      assert.ok(asked instanceof Object && 'response' in asked, String(asked));
      assert.equal(first.length, 2);
      assert.deepEqual([row?.end, row?.usage, row?.failedAttempts?.length], ['finished', { inputTokens: 1 }, 1]);
    });

  test('a refusal of the model leads to another upstream', async () => {
    const { asked, row, first, second } = await ask('both', (_, response) =>
      sendJson(response, 403, { error: { message: 'Your project has no access to this model.' } }),
    );
    assert.ok(asked instanceof Object && 'response' in asked, String(asked));
    assert.deepEqual([first.length, second.length, row?.upstream], [1, 1, 'server']);
  });

  test("a refusal of the request is reported in the vendor's message, once, and is free", async () => {
    const { asked, row, first, second } = await ask('both', (_, response) =>
      sendJson(response, 400, { error: { message: 'This model takes 8 inputs.' } }),
    );
    assert.ok(asked instanceof OpenAI.APIError, String(asked));
    assert.deepEqual([asked.status, asked.message], [400, '400 This model takes 8 inputs.']);
    assert.deepEqual([first.length, second.length, row?.end, String(row?.charge.amountNanoUsd)], [1, 0, 'failed', '0']);
  });

  test("a refusal of the gateway's own texts is the reason why a file is not indexed", async () => {
    const { client, second, weir } = running;
    second.answer = (_, response) => sendJson(response, 400, { error: { message: 'This model does not accept such texts.' } });
    const store = await client.vectorStores.create({});
    const file = await client.files.create({ file: await toFile(Buffer.from('Kites are red.'), 'kites.txt'), purpose: 'user_data' });
    await client.vectorStores.files.create(store.id, { file_id: file.id });
    await eventually(
      () => weir.output(),
      (output) => output.includes('indexing a file was postponed') && output.includes('This model does not accept such texts.'),
    );
    second.answer = made;
  });

  test('a long wait that the vendor requests reaches the client, and so do the headers that pass', async () => {
    const { asked } = await ask('embedder', (_, response) => {
      response.setHeader('retry-after', '60');
      sendJson(response, 429, { error: { message: 'slow down' } });
    });
    assert.ok(asked instanceof OpenAI.APIError, String(asked));
    assert.deepEqual([asked.status, asked.headers?.get('retry-after')], [429, '60']);
    const { response } = await running.client.embeddings.create({ model: 'embedder', input: 'x' }).withResponse();
    assert.equal(response.headers.get('openai-processing-ms'), '7');
  });
});
