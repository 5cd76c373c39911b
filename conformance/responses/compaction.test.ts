import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type OpenAI from 'openai';

import { type ConversationsBench, startConversationsBench } from '../conversations/start-conversations-bench.ts';
import { saying } from '../sdk/steer.ts';
import { call as fetchFrom, post } from '../support/http.ts';
import { openSocket } from '../websocket/open-socket.ts';
import { chatOnly, models } from './models.ts';

/** Upstreams without compaction, one of which speaks the client's interface. */
const foreign = ['messages', 'chat', 'generate-content', 'same-interface'] as const;

const said = (role: 'user' | 'assistant', text: string) => ({ role, content: text });
const call = { type: 'function_call' as const, call_id: 'call_1', name: 'look', arguments: '{}' };
const conversation = [
  said('user', 'FIRST question.'),
  call,
  { type: 'function_call_output' as const, call_id: 'call_1', output: 'a long RESULT' },
  said('assistant', 'An answer.'),
  said('user', 'LAST question.'),
];
const tools = [
  { type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} }, strict: false },
  { type: 'web_search' },
];
const trigger = { type: 'compaction_trigger' };

describe('a conversation is compacted on every upstream', () => {
  let bench: ConversationsBench;
  let client: OpenAI;
  let strangerKey: string;
  const sentFor = (wanted: string): readonly any[] => bench.simulator.records().filter(({ tag }) => tag === wanted);
  const create = (body: object, text: string, tag: string, apiKey = bench.weir.apiKey) =>
    post(`${bench.weir.gatewayUrl}/v1/responses`, body, { authorization: `Bearer ${apiKey}`, ...saying(text, { tag }).headers });
  const itemsDone = (text: string): readonly any[] =>
    eventsOf(text).flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));

  before(async () => {
    bench = await startConversationsBench({
      models: { ...models, 'same-interface': { targets: [{ upstream: 'server', model: 'gpt-4.1' }] } },
      upstreams: ({ openai }) => ({ ...chatOnly(openai), server: { ...chatOnly(openai)['chat-only'], dialects: ['openai-responses'] } }),
    });
    client = bench.client(bench.weir.apiKey);
    strangerKey = await bench.createKey('stranger', 'key');
  });
  after(() => bench[Symbol.asyncDispose]());

  for (const model of foreign) {
    test(`${model}: a trigger at the end of a streamed request is answered by exactly one compaction item, from which the conversation continues`, async () => {
      const tag = `trigger-${model}`;
      const body = {
        model,
        instructions: 'Be brief.',
        input: [...conversation, trigger],
        tools,
        store: false,
        stream: true,
        include: ['reasoning.encrypted_content'],
      };
      const streamed = await create(body, 'THE SUMMARY', tag);
      assert.equal(streamed.status, 200, streamed.text);
      const items = itemsDone(streamed.text);
      assert.deepEqual(
        items.map(({ type }) => type),
        ['compaction'],
      );
      assert.doesNotMatch(streamed.text, /THE SUMMARY/, 'the sealed content cannot be read');
      const [sent] = sentFor(tag);
      const asked = JSON.stringify(sent.requestBody);
      assert.match(asked, /FIRST question.*RESULT.*LAST question.*Summarize the conversation/s);
      assert.doesNotMatch(asked, /compaction_trigger|web_search|google_?[sS]earch/);
      const completed = eventsOf(streamed.text).at(-1);
      assert.equal(completed.type, 'response.completed');
      assert.deepEqual(completed.response.output, items);
      assert.ok(completed.response.usage.input_tokens > 0 && completed.response.usage.output_tokens > 0);
      const receipt = await fetchFrom(`${bench.weir.gatewayUrl}/v1/receipts/${completed.response.id}`, {
        headers: { authorization: `Bearer ${bench.weir.apiKey}` },
      });
      assert.equal(receipt.status, 200, receipt.text);
      assert.match(receipt.text, new RegExp(`"output_tokens":${completed.response.usage.output_tokens}\\b`));

      const next = await create(
        { model, input: [said('user', 'LAST question.'), ...items, said('user', 'Go on.')], store: false },
        'Gone on.',
        `next-${model}`,
      );
      assert.equal(next.status, 200, next.text);
      const [follow] = sentFor(`next-${model}`);
      assert.match(JSON.stringify(follow.requestBody), /LAST question.*THE SUMMARY.*Go on/s);
      assert.doesNotMatch(JSON.stringify(follow.requestBody), /weir-summary/);
    });

    test(`${model}: POST /v1/responses/compact answers with the user's messages and one compaction item, metered like any call`, async () => {
      const compacted = await client.responses.compact({ model, input: conversation }, saying('THE SUMMARY', { tag: `compact-${model}` }));
      assert.equal(compacted.object, 'response.compaction');
      assert.deepEqual(
        compacted.output.map((item: any) => item.role ?? item.type),
        ['user', 'user', 'compaction'],
      );
      assert.ok(compacted.usage.output_tokens > 0);
      const next = await client.responses.create(
        { model, input: [...compacted.output, said('user', 'Go on.')] as any },
        saying('Gone on.', { tag: `after-${model}` }),
      );
      assert.equal(next.output_text, 'Gone on.');
      assert.match(JSON.stringify(sentFor(`after-${model}`)[0].requestBody), /THE SUMMARY/);
      const again = await client.responses.compact(
        { model, previous_response_id: next.id },
        saying('SECOND SUMMARY', { tag: `again-${model}` }),
      );
      assert.deepEqual(
        again.output.map((item: any) => item.role ?? item.type),
        ['user', 'user', 'user', 'compaction'],
      );
      assert.match(JSON.stringify(sentFor(`again-${model}`)[0].requestBody), /THE SUMMARY.*Go on.*Gone on/s);
    });

    test(`${model}: a stored conversation continues from its compaction, without the items that it replaces`, async () => {
      const first = await client.responses.create({ model, input: 'FIRST question.' }, saying('An answer.'));
      const second = await client.responses.create(
        { model, previous_response_id: first.id, input: [trigger] as any },
        saying('THE SUMMARY'),
      );
      assert.deepEqual(
        second.output.map(({ type }) => type),
        ['compaction'],
      );
      await client.responses.create(
        { model, previous_response_id: second.id, input: 'Go on.' },
        saying('Gone on.', { tag: `chain-${model}` }),
      );
      const sent = JSON.stringify(sentFor(`chain-${model}`)[0].requestBody);
      assert.match(sent, /THE SUMMARY.*Go on/s);
      assert.doesNotMatch(sent, /FIRST question/);
    });

    test(`${model}: POST /v1/responses/input_tokens counts tokens`, async () => {
      const counted = await client.responses.inputTokens.count({ model, input: 'How many tokens are these words, and who counts them?' });
      assert.equal(counted.object, 'response.input_tokens');
      assert.ok(counted.input_tokens > 5 && counted.input_tokens < 40, `${counted.input_tokens}`);
    });
  }

  test('a vendor with compaction gets the requests unchanged, and its own items back', async () => {
    const streamed = await create(
      { model: 'responses', input: [...conversation, trigger], store: false, stream: true },
      'THE SUMMARY',
      'native',
    );
    const items = itemsDone(streamed.text);
    assert.deepEqual(
      items.map(({ type }) => type),
      ['compaction'],
    );
    const [sent] = sentFor('native');
    assert.deepEqual([sent.path, sent.requestBody.input.at(-1)], ['/v1/responses', trigger]);
    const compacted = await client.responses.compact(
      { model: 'responses', input: conversation },
      saying('THE SUMMARY', { tag: 'native-compact' }),
    );
    assert.equal(compacted.object, 'response.compaction');
    assert.equal(sentFor('native-compact')[0].path, '/v1/responses/compact');
    const counted = await client.responses.inputTokens.count({ model: 'responses', input: 'Hello there.' });
    assert.ok(counted.input_tokens > 0);

    const elsewhere = await create({ model: 'messages', input: [...items, said('user', 'Go on.')], store: false }, 'x', 'elsewhere');
    assert.equal(elsewhere.status, 400, 'an item that only its vendor can read is refused, not dropped');
    assert.match(elsewhere.text, /input\[0\]/);
  });

  test('a vendor with compaction receives a summary that was made here', async () => {
    const created = await client.responses.compact({ model: 'messages', input: conversation }, saying('THE SUMMARY'));
    await client.responses.create(
      { model: 'responses', input: [...created.output, said('user', 'Go on.')] as any },
      saying('Gone on.', { tag: 'moved' }),
    );
    assert.match(JSON.stringify(sentFor('moved')[0].requestBody), /THE SUMMARY/);
  });

  test('a compaction of another user, and one that was changed, are refused and reach no upstream', async () => {
    const created = await client.responses.compact({ model: 'messages', input: conversation }, saying('THE SUMMARY'));
    const item: any = created.output.at(-1);
    const input = [item, said('user', 'Go on.')];
    const stranger = await create({ model: 'messages', input, store: false }, 'x', 'stranger', strangerKey);
    assert.deepEqual([stranger.status, stranger.json.error.param], [400, 'input[0].encrypted_content']);
    const sealed: string = item.encrypted_content;
    const at = sealed.length - 20;
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
    const damaged = await create(
      { model: 'messages', input: [{ ...item, encrypted_content: changed }, input[1]], store: false },
      'x',
      'damaged',
    );
    assert.deepEqual([damaged.status, damaged.json.error.param], [400, 'input[0].encrypted_content']);
    assert.deepEqual([...sentFor('stranger'), ...sentFor('damaged')], []);
  });

  test('over a WebSocket, the default of Codex, a trigger has the same answer', async () => {
    const socket = await openSocket(bench.weir.gatewayUrl, bench.weir.apiKey);
    socket.create({ model: 'messages', input: [...conversation, trigger], store: false });
    const events = await socket.rest();
    const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
    assert.deepEqual([items.map(({ type }) => type), events.at(-1)?.type], [['compaction'], 'response.completed']);
    socket.create({ model: 'messages', input: [...items, said('user', 'Go on.')], store: false });
    assert.equal((await socket.rest()).at(-1)?.type, 'response.completed');
    await socket.close();
  });

  test('a compaction can be quoted, and its price is that of a reply', async () => {
    const body = { path: '/v1/responses/compact', body: { model: 'messages', input: conversation } };
    const quoted = await post(`${bench.weir.gatewayUrl}/v1/quote`, body, { authorization: `Bearer ${bench.weir.apiKey}` });
    assert.equal(quoted.status, 200, quoted.text);
    assert.match(quoted.text, /"upstream":"anthropic"/);
  });

  test('a trigger that is not at the end is refused', async () => {
    const refused = await create({ model: 'messages', input: [trigger, said('user', 'Hello.')] }, 'x', 'misplaced');
    assert.deepEqual([refused.status, refused.json.error.param], [400, 'input[0]']);
  });

  test('a model that writes no summary is an error, not an empty conversation', async () => {
    const answer = await create({ model: 'messages', input: [...conversation, trigger], store: false }, '', 'empty');
    assert.equal(answer.status, 502, answer.text);
    assert.match(answer.text, /no summary/);
    const streamed = await create({ model: 'messages', input: [...conversation, trigger], store: false, stream: true }, '', 'empty-stream');
    assert.match(streamed.text, /response\.failed/);
    assert.doesNotMatch(streamed.text, /response\.completed/);
  });
});

function eventsOf(text: string): readonly any[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
}
