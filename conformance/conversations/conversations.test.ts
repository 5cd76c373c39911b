import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import OpenAI from 'openai';

import { post } from '../support/http.ts';
import { type ConversationsBench, createStoredResponse, startConversationsBench } from './start-conversations-bench.ts';

describe('conversations over HTTP', () => {
  let bench: ConversationsBench;
  let client: OpenAI;
  const send = (path: string, body: unknown) =>
    post(`${bench.weir.gatewayUrl}/v1${path}`, body, { authorization: `Bearer ${bench.weir.apiKey}` });
  before(async () => {
    bench = await startConversationsBench();
    client = bench.client(bench.weir.apiKey);
  });
  after(() => bench[Symbol.asyncDispose]());

  test('a conversation is created, read, changed and deleted', async () => {
    const created = await client.conversations.create({ metadata: { topic: 'demo' } });
    assert.match(created.id, /^conv_[0-9a-z]{26}$/);
    assert.equal(created.object, 'conversation');
    assert.ok(Math.abs(created.created_at - Date.now() / 1000) < 60);
    assert.deepEqual(await client.conversations.retrieve(created.id), created);
    const updated = await client.conversations.update(created.id, { metadata: { topic: 'other' } });
    assert.deepEqual(updated, { ...created, metadata: { topic: 'other' } });
    assert.deepEqual(await client.conversations.delete(created.id), { id: created.id, object: 'conversation.deleted', deleted: true });
    await assert.rejects(client.conversations.retrieve(created.id), OpenAI.NotFoundError);
    await assert.rejects(client.conversations.items.list(created.id), OpenAI.NotFoundError);
    assert.deepEqual((await client.conversations.create()).metadata, {});
  });

  test('items are added, listed, read and deleted; short forms are expanded', async () => {
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'Hello' }] });
    const added = await client.conversations.items.create(id, {
      items: [
        { type: 'message', role: 'assistant', content: 'Hi' },
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'done' },
      ],
    });
    assert.deepEqual(
      added.data.map((item) => [item.type, item.id?.split('_')[0]]),
      [
        ['message', 'msg'],
        ['function_call', 'fc'],
        ['function_call_output', 'fco'],
      ],
    );
    const types: string[] = [];
    for await (const item of client.conversations.items.list(id, { limit: 3, order: 'asc' })) types.push(item.type);
    assert.deepEqual(types, ['message', 'message', 'function_call', 'function_call_output']);
    const last = (await client.conversations.items.list(id)).data[0];
    assert.equal(last?.type, 'function_call_output');
    const first = (await client.conversations.items.list(id, { order: 'asc', limit: 1 })).data[0];
    assert.ok(first?.type === 'message');
    assert.deepEqual(first.content, [{ type: 'input_text', text: 'Hello' }]);
    assert.deepEqual(await client.conversations.items.retrieve(first.id, { conversation_id: id }), first);
    assert.equal((await client.conversations.items.delete(first.id, { conversation_id: id })).id, id);
    await assert.rejects(client.conversations.items.retrieve(first.id, { conversation_id: id }), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.message, `404 Item with id '${first.id}' not found.`);
      return true;
    });
  });

  test('an item that names a stored one is replaced by it', async () => {
    await bench.stored.saveResponse(createStoredResponse('resp_ref', 'admin'));
    const { id } = await client.conversations.create({ items: [{ type: 'item_reference', id: 'msg_resp_ref_out' }] as never });
    const [item] = (await client.conversations.items.list(id)).data;
    assert.ok(item?.type === 'message');
    assert.deepEqual(item.content[0]?.type === 'output_text' && item.content[0].text, 'answer resp_ref');
    const unknown = await send('/conversations', { items: [{ type: 'item_reference', id: 'msg_other' }] });
    assert.deepEqual([unknown.status, unknown.json.error.message], [404, "Item with id 'msg_other' not found."]);
  });

  for (const [path, body, param] of [
    ['/conversations', { items: [{ role: 'nobody', content: 'x' }] }, /^items\[0\]/],
    ['/conversations', { items: Array.from({ length: 21 }, () => ({ role: 'user', content: 'x' })) }, /^items$/],
    ['/conversations', { metadata: { a: 1 } }, /^metadata/],
    ['/conversations', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])) }, /^metadata/],
    ['/conversations', { items: 'hello' }, /^items/],
    ['/conversations/conv_x', {}, /^metadata/],
    ['/conversations/conv_x/items', {}, /^items/],
  ] as const) {
    test(`POST ${path} with ${JSON.stringify(body).slice(0, 60)} is refused with the place of the error`, async () => {
      const { status, json, text } = await send(path, body);
      assert.equal(status, 400, text);
      assert.match(String(json.error.param), param, text);
    });
  }

  test('a key without storage has no conversations', async () => {
    const secret = await bench.createKey('forgetful', 'zero', '--retention-days', '0');
    await assert.rejects(bench.client(secret).conversations.create(), OpenAI.BadRequestError);
  });
});
