import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { includeValues } from '../../src/dialects/openai-responses/show-item.ts';
import { call } from '../support/http.ts';
import { type ConversationsBench, createStoredResponse, startConversationsBench } from './start-conversations-bench.ts';

const user = 'admin';

describe('stored responses over HTTP', () => {
  let bench: ConversationsBench;
  let client: OpenAI;
  const get = (path: string) => call(`${bench.weir.gatewayUrl}/v1${path}`, { headers: { authorization: `Bearer ${bench.weir.apiKey}` } });
  before(async () => {
    bench = await startConversationsBench();
    client = bench.client(bench.weir.apiKey);
  });
  after(() => bench[Symbol.asyncDispose]());

  test('a response is read as it is, without the parts that need include', async () => {
    const stored = createStoredResponse('resp_read', user);
    await bench.stored.saveResponse(stored);
    const read = await client.responses.retrieve('resp_read');
    assert.equal(read.output_text, 'answer resp_read');
    const plain = await get('/responses/resp_read?stream=false');
    assert.deepEqual(Object.keys(plain.json), Object.keys(stored.response));
    assert.ok(!plain.text.includes('hidden'), plain.text);
    const whole = await client.responses.retrieve('resp_read', { include: [...includeValues] as OpenAI.Responses.ResponseIncludable[] });
    assert.deepEqual(whole.output, stored.response['output']);
    for (const [value, id] of [
      ['reasoning.encrypted_content', 'rs_resp_read'],
      ['file_search_call.results', 'fs_resp_read'],
      ['code_interpreter_call.outputs', 'ci_resp_read'],
      ['web_search_call.action.sources', 'ws_resp_read'],
      ['message.output_text.logprobs', 'msg_resp_read_out'],
    ] as const) {
      const { json } = await get(`/responses/resp_read?include[]=${value}`);
      const shown = (json.output as { id: string }[]).filter((item) => JSON.stringify(item).includes('hidden')).map((item) => item.id);
      assert.deepEqual(shown, [id], value);
    }
  });

  test('input items are listed over the whole chain, in pages that the SDK follows', async () => {
    await bench.stored.saveResponse(createStoredResponse('resp_l1', user));
    await bench.stored.saveResponse(createStoredResponse('resp_l2', user, { previousResponseId: 'resp_l1' }));
    const ids: unknown[] = [];
    for await (const item of client.responses.inputItems.list('resp_l2', { limit: 2, order: 'asc' })) ids.push(item.id);
    const first = ['msg_resp_l1_in', 'cuo_resp_l1', 'rs_resp_l1', 'fs_resp_l1', 'ci_resp_l1', 'ws_resp_l1', 'msg_resp_l1_out'];
    assert.deepEqual(ids, [...first, 'msg_resp_l2_in', 'cuo_resp_l2']);
    const { json, text } = await get('/responses/resp_l2/input_items?limit=1');
    assert.deepEqual([json.object, json.first_id, json.last_id, json.has_more], ['list', 'cuo_resp_l2', 'cuo_resp_l2', true]);
    assert.ok(!text.includes('hidden'));
    const shown = await get(
      '/responses/resp_l2/input_items?limit=2&include=computer_call_output.output.image_url,message.input_image.image_url',
    );
    assert.equal(shown.text.match(/data:/g)?.length, 2);
  });

  test('a deleted response is gone, and a later response keeps the parts that it needs', async () => {
    await bench.stored.saveResponse(createStoredResponse('resp_d1', user));
    await bench.stored.saveResponse(createStoredResponse('resp_d2', user, { previousResponseId: 'resp_d1' }));
    const { text } = await call(`${bench.weir.gatewayUrl}/v1/responses/resp_d1`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${bench.weir.apiKey}` },
    });
    assert.equal(text, '{"id":"resp_d1","object":"response","deleted":true}');
    await assert.rejects(client.responses.retrieve('resp_d1'), OpenAI.NotFoundError);
    await assert.rejects(client.responses.delete('resp_d1'), OpenAI.NotFoundError);
    assert.equal((await client.responses.inputItems.list('resp_d2', { limit: 100 })).data.length, 9);
    await client.responses.delete('resp_d2');
  });

  test('a response whose gateway died answers as failed', async () => {
    const running = createStoredResponse('resp_dead', user, { status: 'in_progress', leaseUntilMs: 1 });
    await bench.stored.saveResponse({ ...running, response: { ...running.response, status: 'in_progress' } });
    const read = await client.responses.retrieve('resp_dead');
    assert.deepEqual([read.status, read.error?.code], ['failed', 'server_error']);
  });

  for (const [query, param] of [
    ['?include[]=everything', 'include'],
    ['?stream=perhaps', 'stream'],
    ['?starting_after=3', 'starting_after'],
    ['/input_items?limit=0', 'limit'],
    ['/input_items?limit=101', 'limit'],
    ['/input_items?limit=1e1', 'limit'],
    ['/input_items?order=up', 'order'],
    ['/input_items?after=msg_nothing', 'after'],
    ['/input_items?include=x', 'include'],
  ] as const) {
    test(`${query} is refused with a reason`, async () => {
      await bench.stored.saveResponse(createStoredResponse('resp_q', user));
      const { status, json } = await get(`/responses/resp_q${query}`);
      assert.deepEqual(
        [status, json.error.type, json.error.param, json.error.code],
        [400, 'invalid_request_error', param, 'invalid_value'],
      );
    });
  }

  test('a method that a path does not support is refused, and the answer names the supported ones', async () => {
    for (const [method, path, allow] of [
      ['POST', '/responses/resp_q', 'GET, DELETE, HEAD'],
      ['DELETE', '/responses/resp_q/input_items', 'GET, HEAD'],
      ['GET', '/conversations', 'POST'],
    ] as const) {
      const answer = await call(`${bench.weir.gatewayUrl}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${bench.weir.apiKey}` },
      });
      assert.deepEqual([answer.status, answer.headers['allow'], answer.json.error.type], [405, allow, 'invalid_request_error']);
    }
  });

  test('invalid ids are unknown, whatever they contain', async () => {
    for (const id of ['%00', '%ed%a0%80x', 'x'.repeat(3000), `%27;drop%20table%20responses`, '..%2f..']) {
      const { status, json } = await get(`/responses/${id}`);
      assert.equal(status, 404, id);
      assert.equal(json.error.type, 'invalid_request_error');
    }
  });
});
