import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { JsonObject } from '../../../src/platform/json/json-value.ts';
import type { ConversationStore } from '../../../src/conversations/conversation-store.ts';
import { createResponse, idsOf, setUpConversations, startMs } from './set-up.ts';

const items = (...ids: readonly string[]): readonly JsonObject[] => ids.map((id) => ({ id, type: 'message', text: `${id} \0 \ud800` }));

/** The behaviour of every store for conversation objects. */
export function conversationObjectSuite(open: () => ConversationStore): void {
  const create = async (id: string, first: readonly JsonObject[] = [], keptMs?: number) => {
    const setUp = setUpConversations(open());
    const conversation = {
      id,
      userName: 'anna',
      createdAtMs: startMs,
      metadata: { topic: 'a\0\ud800' },
      ...(keptMs === undefined ? {} : { keptMs }),
    };
    await setUp.conversations.createConversation(conversation, first);
    return { ...setUp, conversation };
  };

  test('a conversation is read as it was created and changed, by its user alone', async () => {
    const { conversations, conversation } = await create('whole');
    assert.deepEqual(await conversations.findConversation('anna', 'whole'), conversation);
    assert.equal(await conversations.findConversation('bert', 'whole'), undefined);
    assert.equal(await conversations.updateConversation('bert', 'whole', {}), undefined);
    assert.equal(await conversations.appendItems('bert', 'whole', items('x')), false);
    assert.equal(await conversations.readConversation('bert', 'whole'), undefined);
    assert.equal(await conversations.lockConversation('bert', 'whole', 'h', startMs + 1), undefined);
    assert.equal(await conversations.deleteConversation('bert', 'whole'), false);
    assert.deepEqual(await conversations.updateConversation('anna', 'whole', { a: 'b' }), { ...conversation, metadata: { a: 'b' } });
    assert.deepEqual(await conversations.findConversation('anna', 'whole'), { ...conversation, metadata: { a: 'b' } });
    await assert.rejects(conversations.createConversation(conversation, []), /could not be created/);
  });

  test('items stay in order, each once, also if several writers add at the same moment', async () => {
    const { conversations } = await create('order', items('o1', 'o2'));
    assert.equal(await conversations.appendItems('anna', 'order', items('o2', 'o3', 'o3')), true);
    assert.deepEqual(await conversations.readConversation('anna', 'order'), items('o1', 'o2', 'o3'));
    await Promise.all([4, 5, 6].map((index) => conversations.appendItems('anna', 'order', items(`o${index}`, `p${index}`))));
    assert.deepEqual(idsOf(await conversations.readConversation('anna', 'order')), ['o1', 'o2', 'o3', 'o4', 'p4', 'o5', 'p5', 'o6', 'p6']);
  });

  test('items are listed in pages, found and deleted one by one', async () => {
    const { conversations } = await create('pages', items('g1', 'g2', 'g3'));
    const list = async (limit: number, order: 'asc' | 'desc', after?: string) => {
      const page = await conversations.listConversationItems('anna', 'pages', { limit, order, ...(after === undefined ? {} : { after }) });
      return [idsOf(page?.items), page?.hasMore];
    };
    assert.deepEqual(await list(2, 'desc'), [['g3', 'g2'], true]);
    assert.deepEqual(await list(2, 'desc', 'g2'), [['g1'], false]);
    assert.deepEqual(await list(3, 'asc'), [['g1', 'g2', 'g3'], false]);
    assert.deepEqual(await list(1, 'asc', 'g1'), [['g2'], true]);
    await assert.rejects(list(1, 'asc', 'nothing'), { code: 'invalid_value', param: 'after' });
    assert.deepEqual(await conversations.findConversationItem('anna', 'pages', 'g2'), items('g2')[0]);
    assert.equal(await conversations.findConversationItem('bert', 'pages', 'g2'), undefined);
    assert.equal(await conversations.deleteConversationItem('bert', 'pages', 'g2'), false);
    assert.equal(await conversations.deleteConversationItem('anna', 'pages', 'g2'), true);
    assert.equal(await conversations.deleteConversationItem('anna', 'pages', 'g2'), false);
    assert.deepEqual(await list(3, 'asc'), [['g1', 'g3'], false]);
    await conversations.appendItems('anna', 'pages', items('g2'));
    assert.deepEqual(await list(3, 'asc'), [['g1', 'g3', 'g2'], false]);
  });

  test('a deleted conversation is deleted with its items, and without responses', async () => {
    const { conversations, conversation } = await create('taken', items('t1'));
    await conversations.saveResponse(createResponse('of_taken', { conversationId: 'taken' }));
    assert.equal(await conversations.deleteConversation('anna', 'taken'), true);
    assert.equal(await conversations.findConversation('anna', 'taken'), undefined);
    assert.deepEqual(await conversations.findItems('anna', ['t1']), new Map());
    assert.equal((await conversations.readChain('anna', 'of_taken'))?.length, 2);
    await conversations.createConversation(conversation, []);
    assert.deepEqual(await conversations.readConversation('anna', 'taken'), []);
  });

  test('one holder at a time has a conversation, until it releases it or its time ends', async () => {
    const { conversations, pass } = await create('locked');
    const lock = (holder: string, forMs: number) => conversations.lockConversation('anna', 'locked', holder, startMs + forMs);
    assert.deepEqual(await Promise.all([lock('a', 1000), lock('b', 1000)]), [true, false]);
    assert.equal(await lock('a', 2000), true);
    await conversations.unlockConversation('anna', 'locked', 'b');
    pass(1999);
    assert.equal(await lock('b', 3000), false);
    pass(1);
    assert.equal(await lock('b', 3000), true);
    await conversations.unlockConversation('anna', 'locked', 'b');
    assert.equal(await lock('a', 3000), true);
    assert.equal(await conversations.lockConversation('anna', 'nothing', 'a', startMs), undefined);
  });

  test('a conversation with a retention time expires that long after its last change', async () => {
    const { conversations, pass, sweep } = await create('kept', items('k1'), 1000);
    pass(999);
    await conversations.appendItems('anna', 'kept', items('k2'));
    pass(999);
    assert.equal((await conversations.readConversation('anna', 'kept'))?.length, 2);
    pass(1);
    assert.equal(await conversations.readConversation('anna', 'kept'), undefined);
    assert.deepEqual(await conversations.findItems('anna', ['k1']), new Map());
    assert.equal(await conversations.appendItems('anna', 'kept', items('k3')), false);
    assert.ok((await sweep()) >= 1);
    await conversations.createConversation({ id: 'kept', userName: 'anna', createdAtMs: startMs, metadata: {} }, []);
  });

  test('a full conversation stores nothing of an addition that exceeds the limit', async () => {
    const { conversations } = await create('full', items('f0'));
    const many = Array.from({ length: 30 }, (_, index) => `f${index}`);
    assert.equal(await conversations.appendItems('anna', 'full', items(...many)), true);
    await assert.rejects(conversations.appendItems('anna', 'full', items('one more')), { code: 'invalid_value', param: 'items' });
    assert.deepEqual(idsOf(await conversations.readConversation('anna', 'full')), many);
    assert.equal(await conversations.deleteConversationItem('anna', 'full', 'f3'), true);
    assert.equal(await conversations.appendItems('anna', 'full', items('one more')), true);
  });
}
