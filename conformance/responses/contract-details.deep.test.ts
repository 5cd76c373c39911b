import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { makeDocx } from '../files/documents.ts';
import { saying } from '../sdk/steer.ts';
import { post } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir, upstreamKey } from '../support/start-simulated-weir.ts';
import { chatOnly, models } from './models.ts';

const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

describe('details of the Responses contract', () => {
  let running: SimulatedWeir;
  before(async () => {
    running = await startSimulatedGateway({
      models: {
        ...models,
        small: { targets: [{ upstream: 'small', model: 'gpt-4.1' }] },
        'small-native': { targets: [{ upstream: 'small-native', model: 'gpt-4.1' }] },
      },
      upstreams: ({ openai }) => ({
        ...chatOnly(openai),
        small: { ...chatOnly(openai)['chat-only'], quirks: { contextTokensMax: 1000 } },
        'small-native': { vendor: 'openai', baseUrl: openai, apiKey: upstreamKey, quirks: { contextTokensMax: 1000 } },
      }),
    });
  });
  after(() => running[Symbol.asyncDispose]());

  const ask = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    post(running.weir.gatewayUrl + path, body, { authorization: `Bearer ${running.weir.apiKey}`, ...headers });
  const sentFor = (wanted: string): any => running.simulator.records().findLast(({ tag }) => tag === wanted)?.requestBody;

  test('domains of a search reach an OpenAI upstream as its filter', async () => {
    const location = { type: 'approximate', country: 'GB' };
    const tool = {
      type: 'web_search_preview',
      search_context_size: 'low',
      user_location: location,
      domains: ['example.org', 'example.com'],
    };
    const body = { model: 'responses', input: 'Hello', tools: [tool], tool_choice: { type: 'web_search_preview' } };
    const answer = await ask('/v1/responses', body, saying('Found.', { tag: 'domains' }).headers);
    assert.equal(answer.status, 200, answer.text);
    const sent = sentFor('domains');
    const filters = { allowed_domains: ['example.org', 'example.com'] };
    assert.deepEqual(sent.tools, [{ type: 'web_search', search_context_size: 'low', user_location: location, filters }]);
    assert.deepEqual(sent.tool_choice, { type: 'web_search' });
    const plain = { type: 'web_search_preview', search_context_size: 'low' };
    await ask('/v1/responses', { model: 'responses', input: 'Hello', tools: [plain] }, saying('Found.', { tag: 'no-domains' }).headers);
    assert.deepEqual(sentFor('no-domains').tools, [plain], 'without domains nothing is changed');
  });

  for (const path of ['/v1/responses', '/v1/responses/compact', '/v1/responses/input_tokens']) {
    test(`${path}: an unknown model is a 400 with model_not_found`, async () => {
      const answer = await ask(path, { model: 'no-such-model', input: 'Hello' });
      assert.deepEqual([answer.status, answer.json.error.code, answer.json.error.param], [400, 'model_not_found', 'model'], answer.text);
    });
  }

  for (const model of ['small', 'small-native']) {
    test(`${model}: without truncation a request that exceeds the configured window is refused and not sent`, async () => {
      const input = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
      for (const truncation of [undefined, 'disabled']) {
        const tag = `long-${model}-${truncation}`;
        const answer = await ask('/v1/responses', { model, input, truncation }, saying('Fine.', { tag }).headers);
        assert.deepEqual([answer.status, answer.json.error.code], [400, 'context_length_exceeded'], answer.text);
        assert.match(answer.json.error.message, /1000/);
        assert.equal(sentFor(tag), undefined);
      }
      const short = await ask('/v1/responses', { model, input: input.slice(0, 3000) }, saying('Fine.').headers);
      assert.equal(short.status, 200, short.text);
    });
  }

  test('a response has its time of completion, whole and streamed, and not while it runs', async () => {
    for (const model of ['messages', 'chat', 'generate-content']) {
      const whole = await ask('/v1/responses', { model, input: 'Hello' }, saying('Hi.').headers);
      assert.ok(whole.json.completed_at >= whole.json.created_at, whole.text);
      const streamed = await ask('/v1/responses', { model, input: 'Hello', stream: true }, saying('Hi.').headers);
      const events = [...streamed.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
      assert.equal(events[0].response.completed_at, null);
      assert.ok(events.at(-1).response.completed_at >= events[0].response.created_at);
    }
  });

  const document = Buffer.from(makeDocx('The ferry leaves at noon.')).toString('base64');
  for (const model of ['messages', 'chat', 'generate-content']) {
    test(`${model}: a Word document is read as text, because the vendor does not support it`, async () => {
      for (const [file_data, tag] of [
        [`data:${docxType};base64,${document}`, 'typed'],
        [document, 'bare'],
        [`data:application/octet-stream;base64,${document}`, 'vague'],
      ]) {
        const content = [{ type: 'input_file', filename: 'ferry.docx', file_data }];
        const wanted = `${tag}-${model}`;
        const answer = await ask(
          '/v1/responses',
          { model, input: [{ role: 'user', content }] },
          saying('At noon.', { tag: wanted }).headers,
        );
        assert.equal(answer.status, 200, answer.text);
        // Generate-content accepts plain text as a file of its own.
        const sent = JSON.stringify(sentFor(wanted));
        const read = model === 'generate-content' ? Buffer.from(/"data":"([^"]+)/.exec(sent)?.[1] ?? '', 'base64').toString() : sent;
        assert.match(read, /The ferry leaves at noon/);
        assert.match(String(answer.headers['x-gateway-warning']), /emulated input\[0\]\.content\[0\]/);
      }
    });
  }

  test('a damaged Word document is a 400 that names its place, and shows no parser error', async () => {
    const content = [{ type: 'input_file', filename: 'x.docx', file_data: Buffer.from('PK\u0003\u0004 no archive').toString('base64') }];
    const answer = await ask('/v1/responses', { model: 'messages', input: [{ role: 'user', content }] });
    assert.deepEqual([answer.status, answer.json.error.param], [400, 'input[0].content[0]'], answer.text);
    assert.match(answer.json.error.message, /damaged, or is not a Word document/);
  });

  test('a vendor that supports Word documents gets the bytes', async () => {
    const file = { type: 'input_file', filename: 'ferry.docx', file_data: `data:${docxType};base64,${document}` };
    const answer = await ask(
      '/v1/responses',
      { model: 'responses', input: [{ role: 'user', content: [file] }] },
      saying('Yes.', { tag: 'whole' }).headers,
    );
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(sentFor('whole').input[0].content[0], file);
  });
});
