import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { call } from '../support/http.ts';
import { type ConversationsBench, createStoredResponse, startConversationsBench } from './start-conversations-bench.ts';

/** Every route of stored objects, with an id of each kind that belongs to a user. */
const routes = [
  ['GET', '/responses/{response}'],
  ['GET', '/responses/{response}?include[]=reasoning.encrypted_content'],
  ['GET', '/responses/{response}?stream=true'],
  ['GET', '/responses/{response}/input_items'],
  ['GET', '/responses/{response}/input_items?after=msg_{response}_in'],
  ['DELETE', '/responses/{response}'],
  ['GET', '/conversations/{conversation}'],
  ['POST', '/conversations/{conversation}', { metadata: { taken: 'over' } }],
  ['DELETE', '/conversations/{conversation}'],
  ['GET', '/conversations/{conversation}/items'],
  ['GET', '/conversations/{conversation}/items?after={item}'],
  ['POST', '/conversations/{conversation}/items', { items: [{ role: 'user', content: 'intruder' }] }],
  ['POST', '/conversations/{conversation}/items', { items: [{ type: 'item_reference', id: '{item}' }] }],
  ['POST', '/conversations', { items: [{ type: 'item_reference', id: '{item}' }] }],
  ['POST', '/conversations', { items: [{ type: 'item_reference', id: 'msg_{response}_out' }] }],
  ['GET', '/conversations/{conversation}/items/{item}'],
  ['DELETE', '/conversations/{conversation}/items/{item}'],
] as const;

/** As long as the ids that they replace, because an answer repeats the id. */
const unknown = { response: 'resp_nobody', conversation: `conv_${'nobody'.padEnd(26, 'x')}`, item: `msg_${'nobody'.padEnd(26, 'x')}` };

describe('an object of one user does not exist for another', () => {
  let bench: ConversationsBench;
  let strangerKey: string;
  let secondKey: string;
  const mine = { response: 'resp_secret', conversation: '', item: '' };
  const fill = (template: string, ids: typeof mine): string =>
    template.replaceAll('{response}', ids.response).replaceAll('{conversation}', ids.conversation).replaceAll('{item}', ids.item);

  async function ask([method, path, body]: (typeof routes)[number], ids: typeof mine, apiKey: string | undefined) {
    const headers = { ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }), 'content-type': 'application/json' };
    const answer = await call(`${bench.weir.gatewayUrl}/v1${fill(path, ids)}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: fill(JSON.stringify(body), ids) }),
    });
    const told = Object.entries(answer.headers).filter(([name]) => !name.endsWith('request-id') && name !== 'date');
    return { status: answer.status, headers: told, text: answer.text };
  }

  before(async () => {
    bench = await startConversationsBench();
    strangerKey = await bench.createKey('stranger', 'key');
    secondKey = await bench.createKey('admin', 'second');
    const client = bench.client(bench.weir.apiKey);
    const conversation = await client.conversations.create({ items: [{ role: 'user', content: 'secret' }] });
    mine.conversation = conversation.id;
    mine.item = (await client.conversations.items.list(conversation.id)).data[0]?.id ?? '';
    assert.deepEqual([mine.conversation.length, mine.item.length], [unknown.conversation.length, unknown.item.length]);
  });
  after(() => bench[Symbol.asyncDispose]());

  for (const route of routes) {
    test(`${route[0]} ${route[1]} hides the objects of another user`, async () => {
      await bench.stored.saveResponse(createStoredResponse(mine.response, 'admin'));
      const foreign = await ask(route, mine, strangerKey);
      const absent = await ask(route, unknown, strangerKey);
      assert.equal(foreign.status, 404, foreign.text);
      let expected = absent.text;
      for (const kind of ['response', 'conversation', 'item'] as const) expected = expected.replaceAll(unknown[kind], mine[kind]);
      assert.equal(foreign.text, expected);
      assert.deepEqual(foreign.headers, absent.headers);
      assert.match(
        foreign.text,
        /^\{"error":\{"message":"\w+ with id '[\w]+' not found\.","type":"invalid_request_error","param":null,"code":null\}\}$/,
      );
      // A client without a key learns nothing, either.
      const anonymous = await ask(route, mine, undefined);
      assert.equal(anonymous.status, 401);
      assert.deepEqual(anonymous, await ask(route, unknown, undefined));
    });
  }

  test('the attempts of another user have changed nothing, and another key of the same user sees everything', async () => {
    const client = bench.client(secondKey);
    assert.equal((await client.responses.retrieve(mine.response)).id, mine.response);
    assert.deepEqual((await client.conversations.retrieve(mine.conversation)).metadata, {});
    assert.deepEqual(
      (await client.conversations.items.list(mine.conversation)).data.map(({ id }) => id),
      [mine.item],
    );
    await client.responses.delete(mine.response);
  });
});
