import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ConversationStore } from '../../../src/conversations/conversation-store.ts';
import type { JsonObject } from '../../../src/platform/json/json-value.ts';
import { createResponse, hour, idsOf, saveChain, setUpConversations, startMs } from './set-up.ts';

/**
 * The behaviour of every store for responses, seen through the domain. Tests use names of their own and share one
 * store.
 */
export function responseSuite(open: () => ConversationStore): void {
  test('a response is read as it was saved, by its user alone', async () => {
    const { conversations } = setUpConversations(open());
    const saved = createResponse('whole', {
      conversationId: 'conv_1',
      keeper: { upstream: 'openai', credential: '0' },
      previousResponseId: 'gone',
    });
    assert.equal(await conversations.saveResponse(saved), true);
    assert.deepEqual(await conversations.findResponse('anna', 'whole'), saved);
    assert.equal(await conversations.findResponse('bert', 'whole'), undefined);
    assert.equal(await conversations.readChain('bert', 'whole'), undefined);
    assert.equal(await conversations.deleteResponse('bert', 'whole'), false);
    assert.deepEqual(await conversations.findItems('bert', ['in_whole', 'out_whole']), new Map());
    for (const id of ['', 'whole\0', '\ud800', 'x'.repeat(300)]) assert.equal(await conversations.findResponse('anna', id), undefined);
    await assert.rejects(conversations.saveResponse(createResponse('a\0b')), RangeError);
  });

  test('the same id of two users is two responses', async () => {
    const { conversations } = setUpConversations(open());
    await conversations.saveResponse(createResponse('shared', { userName: 'anna' }));
    await conversations.saveResponse(createResponse('shared', { userName: 'bert', keyId: 'key_b' }));
    assert.equal((await conversations.findResponse('bert', 'shared'))?.keyId, 'key_b');
    await conversations.deleteResponse('bert', 'shared');
    assert.equal((await conversations.findResponse('anna', 'shared'))?.keyId, 'key_1');
  });

  test('a chain has the input and output of each of its responses, and forks are separate', async () => {
    const { conversations } = setUpConversations(open());
    await saveChain(conversations, ['c1', 'c2', 'c3']);
    await conversations.saveResponse(createResponse('fork', { previousResponseId: 'c1' }));
    assert.deepEqual(idsOf(await conversations.readChain('anna', 'c3')), ['in_c1', 'out_c1', 'in_c2', 'out_c2', 'in_c3', 'out_c3']);
    assert.deepEqual(idsOf(await conversations.readChain('anna', 'fork')), ['in_c1', 'out_c1', 'in_fork', 'out_fork']);
    assert.equal(await conversations.readChain('anna', 'c4'), undefined);
  });

  test("another user's response cannot be a predecessor", async () => {
    const { conversations } = setUpConversations(open());
    await saveChain(conversations, ['theirs'], { userName: 'bert' });
    await conversations.saveResponse(createResponse('mine', { previousResponseId: 'theirs' }));
    assert.deepEqual(idsOf(await conversations.readChain('anna', 'mine')), ['in_mine', 'out_mine']);
  });

  test('input items are those of the chain and of the response itself, in pages of either order', async () => {
    const { conversations } = setUpConversations(open());
    await saveChain(conversations, ['p1', 'p2']);
    const list = async (limit: number, order: 'asc' | 'desc', after?: string) => {
      const page = await conversations.listInputItems('anna', 'p2', { limit, order, ...(after === undefined ? {} : { after }) });
      return [idsOf(page?.items), page?.hasMore];
    };
    assert.deepEqual(await list(3, 'desc'), [['in_p2', 'out_p1', 'in_p1'], false]);
    assert.deepEqual(await list(2, 'asc'), [['in_p1', 'out_p1'], true]);
    assert.deepEqual(await list(2, 'asc', 'out_p1'), [['in_p2'], false]);
    assert.deepEqual(await list(1, 'desc', 'in_p2'), [['out_p1'], true]);
    await assert.rejects(list(1, 'desc', 'out_p2'), { code: 'invalid_value', param: 'after' });
    assert.equal(await conversations.listInputItems('bert', 'p2', { limit: 1, order: 'asc' }), undefined);
  });

  test('a response that is generated may be replaced until it has ended, and never after', async () => {
    const { conversations } = setUpConversations(open());
    await conversations.saveResponse(createResponse('r', { status: 'in_progress', response: { id: 'r', output: [] } }));
    assert.equal(await conversations.extendLease('anna', 'r', startMs + hour), true);
    assert.equal(await conversations.saveResponse(createResponse('r', { status: 'cancelled' })), true);
    assert.equal(await conversations.saveResponse(createResponse('r', { status: 'completed' })), false);
    assert.equal((await conversations.findResponse('anna', 'r'))?.status, 'cancelled');
    assert.equal(await conversations.extendLease('anna', 'r', startMs + hour), false);
    assert.deepEqual(idsOf([...(await conversations.findItems('anna', ['out_r'])).values()]), ['out_r']);
  });

  test('a response that is deleted while it is generated does not reappear when it ends', async () => {
    const { conversations, sweep, pass } = setUpConversations(open());
    await saveChain(conversations, ['before']);
    const running = createResponse('deleted', { status: 'in_progress', previousResponseId: 'before' });
    await conversations.saveResponse(running);
    await conversations.deleteResponse('anna', 'before');
    assert.equal(await conversations.deleteResponse('anna', 'deleted'), true);
    assert.equal(await conversations.saveResponse({ ...running, status: 'completed' }), false);
    assert.equal(await conversations.findResponse('anna', 'deleted'), undefined);
    pass(25 * hour);
    await sweep();
    assert.equal(await conversations.saveResponse({ ...running, status: 'completed' }), true, 'the name is forgotten in the end');
    assert.deepEqual(idsOf(await conversations.readChain('anna', 'deleted')), ['in_deleted', 'out_deleted']);
  });

  test('a response whose generating process has died has failed permanently', async () => {
    const { conversations, pass } = setUpConversations(open());
    const leaseUntilMs = startMs + 10_000;
    await conversations.saveResponse(createResponse('lapsed', { status: 'in_progress', leaseUntilMs }));
    pass(10_000 - 1);
    assert.equal((await conversations.findResponse('anna', 'lapsed'))?.status, 'in_progress');
    assert.equal(await conversations.extendLease('anna', 'lapsed', startMs + 20_000), true);
    pass(5000);
    assert.equal((await conversations.findResponse('anna', 'lapsed'))?.status, 'in_progress');
    pass(5001);
    const found = await conversations.findResponse('anna', 'lapsed');
    assert.equal(found?.status, 'failed');
    assert.equal(found.response['status'], 'failed');
    assert.deepEqual(found.response['error'], {
      code: 'server_error',
      message: 'the gateway stopped before this response was complete',
    });
    assert.deepEqual(idsOf(found.response['output'] as JsonObject[]), ['out_lapsed']);
    assert.equal(await conversations.extendLease('anna', 'lapsed', startMs + hour), false);
    assert.deepEqual(await conversations.findResponse('anna', 'lapsed'), found);
  });

  test('events are kept in order and read from a number onwards', async () => {
    const { conversations, sweep } = setUpConversations(open());
    await conversations.saveResponse(createResponse('ev', { status: 'in_progress' }));
    await conversations.appendEvents('anna', 'ev', 0, ['a', 'b\0\ud800']);
    await conversations.appendEvents('anna', 'ev', 2, ['c']);
    await conversations.appendEvents('anna', 'ev', 3, []);
    await conversations.appendEvents('anna', 'ev', 3, ['d', 'e', 'f']);
    assert.deepEqual(await conversations.readEvents('anna', 'ev', -1, 100), ['a', 'b\0\ud800', 'c', 'd', 'e', 'f']);
    assert.deepEqual(await conversations.readEvents('anna', 'ev', 0, 3), ['b\0\ud800', 'c', 'd']);
    assert.deepEqual(await conversations.readEvents('anna', 'ev', 3, 1), ['e']);
    assert.deepEqual(await conversations.readEvents('anna', 'ev', 5, 10), []);
    assert.deepEqual(await conversations.readEvents('bert', 'ev', -1, 10), []);
    await conversations.deleteResponse('anna', 'ev');
    await conversations.appendEvents('anna', 'ev', 6, ['late']);
    await sweep();
    assert.deepEqual(await conversations.readEvents('anna', 'ev', -1, 10), []);
  });

  test('items are found by id, the last one of an id, in any response or conversation', async () => {
    const { conversations } = setUpConversations(open());
    const item = (id: string, text: string): JsonObject => ({ id, type: 'message', text });
    await conversations.saveResponse(createResponse('i1', { input: [item('same', 'first'), item('only', 'one')] }));
    await conversations.saveResponse(createResponse('i2', { input: [item('same', 'second'), item('no"id\0\ud800', 'odd')] }));
    const metadata = {};
    await conversations.createConversation({ id: 'i3', userName: 'anna', createdAtMs: startMs, metadata }, [
      item('msg_c', 'in conversation'),
    ]);
    const find = async (ids: readonly string[]) =>
      [...(await conversations.findItems('anna', ids))].map(([id, found]) => [id, found['text']]);
    assert.deepEqual(await find(['only', 'msg_c', 'nothing', 'no"id\0\ud800', 'same']), [
      ['only', 'one'],
      ['msg_c', 'in conversation'],
      ['no"id\0\ud800', 'odd'],
      ['same', 'second'],
    ]);
    await conversations.deleteResponse('anna', 'i2');
    await conversations.deleteConversation('anna', 'i3');
    assert.deepEqual(await find(['same', 'msg_c', 'no"id\0\ud800']), [['same', 'first']]);
  });
}
