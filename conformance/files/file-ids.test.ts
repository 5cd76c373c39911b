import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI, { toFile } from 'openai';

import { chatOnly, modelNames, models } from '../responses/models.ts';
import { pixelPng } from '../sdk/steer.ts';
import { post } from '../support/http.ts';
import { type SimulatedWeir, startSimulatedGateway } from '../support/start-simulated-weir.ts';
import { commandOutput } from '../programs/run-command.ts';
import { makePdf } from './documents.ts';

const secretText = 'The password of the lighthouse is Foghorn.';

describe("a user's files, referred to by their ids in requests", () => {
  let running: SimulatedWeir;
  let client: OpenAI;
  let strangersKey = '';
  const ids = { text: '', pdf: '', image: '' };
  const pdf = makePdf(['A page.']);

  before(async () => {
    running = await startSimulatedGateway({ models, upstreams: ({ openai }) => chatOnly(openai), retries: {} });
    client = new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey: running.weir.apiKey, maxRetries: 0 });
    const upload = async (name: string, content: Buffer): Promise<string> =>
      (await client.files.create({ file: await toFile(content, name), purpose: 'user_data' })).id;
    ids.text = await upload('notes.md', Buffer.from(secretText));
    ids.pdf = await upload('page.pdf', pdf);
    ids.image = await upload('pixel.png', Buffer.from(pixelPng, 'base64'));
    const stdout = await commandOutput(['keys', 'create', '--user', 'stranger', '--name', 'key'], {
      WEIR_DATA_DIR: running.weir.dataDirectory,
    });
    strangersKey = stdout;
  });
  after(() => running[Symbol.asyncDispose]());

  const sentFor = (tag: string): string =>
    JSON.stringify(running.simulator.records().findLast((record) => record.tag === tag)?.requestBody ?? {});
  const tagged = (tag: string) => ({ headers: { 'x-simulator-tag': tag } });
  const inBase64 = Buffer.from(secretText).toString('base64');
  const hasText = (sent: string): boolean => sent.includes(secretText) || sent.includes(inBase64);
  const user = (...content: OpenAI.Responses.ResponseInputContent[]): OpenAI.Responses.ResponseInput => [{ role: 'user', content }];

  for (const model of modelNames) {
    test(`${model}: Responses get the content of files, also when continued and in a stream; the stored response has the ids`, async () => {
      const input = user(
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_file', file_id: ids.text },
        { type: 'input_file', file_id: ids.pdf },
        { type: 'input_image', file_id: ids.image, detail: 'low' },
      );
      const first = await client.responses.create({ model, input }, tagged(`own-${model}`));
      const sent = sentFor(`own-${model}`);
      assert.ok(hasText(sent) && sent.includes(pdf.toString('base64')) && sent.includes(pixelPng));
      assert.ok(!sent.includes(ids.text), 'no upstream receives an id');
      const kept = await client.responses.inputItems.list(first.id);
      assert.match(JSON.stringify(kept.data), new RegExp(`"file_id":"${ids.text}"`));
      assert.ok(!hasText(JSON.stringify(kept.data)));
      for (const next of modelNames) {
        const going = { model: next, input: 'And now?', previous_response_id: first.id };
        await client.responses.create(going, tagged(`next-${model}-${next}`));
        // If the vendor stores the conversation it has the file, and receives only the new turns.
        if (model === 'responses' && next === 'responses') continue;
        assert.ok(hasText(sentFor(`next-${model}-${next}`)), `${model} to ${next}`);
      }
      const stream = client.responses.stream({ model, input, store: false }, tagged(`stream-${model}`));
      assert.equal((await stream.finalResponse()).status, 'completed');
      assert.ok(hasText(sentFor(`stream-${model}`)));
    });

    test(`${model}: Messages and chat completions get the content of files`, async () => {
      const authorization = { authorization: `Bearer ${running.weir.apiKey}` };
      const source = (id: string) => ({ type: 'file', file_id: id });
      const content = [
        { type: 'text', text: 'What is this?' },
        { type: 'document', source: source(ids.text) },
        { type: 'image', source: source(ids.image) },
      ];
      const request = { model, max_tokens: 100, messages: [{ role: 'user', content }] };
      const versions = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'files-api-2025-04-14' };
      const answered = await post(`${running.weir.gatewayUrl}/v1/messages`, request, {
        ...authorization,
        ...versions,
        'x-simulator-tag': `messages-${model}`,
      });
      assert.equal(answered.status, 200, answered.text);
      assert.ok(hasText(sentFor(`messages-${model}`)) && sentFor(`messages-${model}`).includes(pixelPng));
      const counted = await post(
        `${running.weir.gatewayUrl}/v1/messages/count_tokens`,
        { model, messages: request.messages },
        {
          ...authorization,
          ...versions,
        },
      );
      assert.equal(counted.status, 200, counted.text);
      const parts = [
        { type: 'text' as const, text: 'What is this?' },
        ...[ids.text, ids.pdf, ids.image].map((id) => ({ type: 'file' as const, file: { file_id: id } })),
      ];
      await client.chat.completions.create({ model, messages: [{ role: 'user', content: parts }] }, tagged(`chat-${model}`));
      const sent = sentFor(`chat-${model}`);
      assert.ok(hasText(sent) && sent.includes(pdf.toString('base64')) && sent.includes(pixelPng));
    });

    test(`${model}: an id of another user, of a vendor or of no file gets the same error, and nothing is sent`, async () => {
      const refusal = async (key: string, id: string, escaped: boolean, tag: string): Promise<string> => {
        const body = JSON.stringify({ model, input: user({ type: 'input_file', file_id: id }) });
        const response = await fetch(`${running.weir.gatewayUrl}/v1/responses`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-simulator-tag': tag },
          body: escaped ? body.replace('"file_id"', '"\\u0066ile_id"') : body,
        });
        return `${response.status} ${(await response.text()).replaceAll(id, 'ID')}`;
      };
      const tag = `refused-${model}`;
      const foreign = await refusal(strangersKey, ids.text, false, tag);
      assert.match(foreign, /^404 .*No such File object: ID/);
      assert.match(foreign, /"param":"input\[0\]\.content\[0\]\.file_id"/);
      assert.equal(await refusal(strangersKey, 'file-0123456789abcdef', false, tag), foreign);
      assert.equal(await refusal(strangersKey, ids.text, true, tag), foreign, 'an escaped name hides nothing');
      assert.equal(await refusal(running.weir.apiKey, 'file-0123456789abcdef', false, tag), foreign);
      assert.equal(sentFor(tag), '{}');
    });
  }

  test('a background response has the file, and its conversation ends when that file is deleted', async () => {
    const gone = (await client.files.create({ file: await toFile(Buffer.from(secretText), 'gone.txt'), purpose: 'user_data' })).id;
    let response = await client.responses.create(
      { model: 'messages', background: true, input: user({ type: 'input_file', file_id: gone }) },
      tagged('background'),
    );
    while (response.status === 'queued' || response.status === 'in_progress') response = await client.responses.retrieve(response.id);
    assert.equal(response.status, 'completed');
    assert.ok(hasText(sentFor('background')));
    await client.files.delete(gone);
    const next = client.responses.create({ model: 'messages', input: 'And?', previous_response_id: response.id });
    await assert.rejects(next, (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.param, 'previous_response_id');
      return true;
    });
  });
});
