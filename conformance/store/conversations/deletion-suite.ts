import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ConversationStore } from '../../../src/conversations/conversation-store.ts';
import { createResponse, idsOf, saveChain, setUpConversations, startMs } from './set-up.ts';

const day = 86_400_000;

/** The behaviour of every store when responses are deleted, by request or by time. */
export function deletionSuite(open: () => ConversationStore): void {
  test('a deleted response is unknown everywhere, and its continuations keep their history', async () => {
    const { conversations } = setUpConversations(open());
    await saveChain(conversations, ['d1', 'd2', 'd3']);
    assert.equal(await conversations.deleteResponse('anna', 'd2'), true);
    assert.equal(await conversations.deleteResponse('anna', 'd2'), false);
    assert.equal(await conversations.findResponse('anna', 'd2'), undefined);
    assert.equal(await conversations.readChain('anna', 'd2'), undefined);
    assert.equal(await conversations.listInputItems('anna', 'd2', { limit: 1, order: 'asc' }), undefined);
    assert.deepEqual(await conversations.findItems('anna', ['in_d2', 'out_d2']), new Map());
    assert.equal((await conversations.readChain('anna', 'd3'))?.length, 6);
    assert.equal(await conversations.saveResponse(createResponse('d2')), false, 'its name stays reserved while it is needed');
  });

  test('the body of a deleted response is removed with the last response that needs it', async () => {
    const { conversations } = setUpConversations(open());
    await saveChain(conversations, ['e1', 'e2', 'e3']);
    await conversations.saveResponse(createResponse('fork_e', { previousResponseId: 'e2' }));
    for (const id of ['e1', 'e2', 'e3']) await conversations.deleteResponse('anna', id);
    assert.equal((await conversations.readChain('anna', 'fork_e'))?.length, 6);
    assert.equal(await conversations.deleteResponse('anna', 'fork_e'), true);
    // Deleted permanently: the names are free again, and nothing remains.
    for (const id of ['e1', 'e2', 'fork_e']) assert.equal(await conversations.saveResponse(createResponse(id)), true, id);
    assert.deepEqual(idsOf(await conversations.readChain('anna', 'fork_e')), ['in_fork_e', 'out_fork_e']);
  });

  test('a long chain that was deleted is removed piece by piece', async () => {
    const { conversations, sweep } = setUpConversations(open());
    const ids = Array.from({ length: 350 }, (_, index) => `long_${index}`);
    await saveChain(conversations, ids);
    for (const id of ids) await conversations.deleteResponse('anna', id);
    for (let round = 0; round < 10; round += 1) await sweep(200);
    assert.equal(await sweep(200), 0);
    for (const id of [ids[0] ?? '', ids[150] ?? '', ids[349] ?? ''])
      assert.equal(await conversations.saveResponse(createResponse(id)), true, id);
  });

  test('an expired response is like a deleted one, swept or not', async () => {
    const { conversations, pass, sweep } = setUpConversations(open());
    await conversations.saveResponse(createResponse('x1', { expiresAtMs: startMs + day }));
    await conversations.saveResponse(createResponse('x2', { previousResponseId: 'x1', expiresAtMs: startMs + 2 * day }));
    pass(day);
    for (const swept of [false, true]) {
      assert.equal(await conversations.findResponse('anna', 'x1'), undefined);
      assert.deepEqual(await conversations.findItems('anna', ['in_x1']), new Map());
      assert.equal((await conversations.readChain('anna', 'x2'))?.length, 4);
      if (!swept) assert.ok((await sweep()) >= 1);
    }
    pass(day);
    await sweep();
    assert.equal(await sweep(), 0);
    assert.equal(await conversations.saveResponse(createResponse('x1')), true);
  });

  test('a sweep deletes no more than its limit', async () => {
    const { conversations, pass, sweep } = setUpConversations(open());
    for (let index = 0; index < 25; index += 1) {
      await conversations.saveResponse(createResponse(`s_${index}`, { userName: 'sweep', expiresAtMs: startMs + 1 }));
    }
    pass(1);
    assert.deepEqual([await sweep(10), await sweep(10), await sweep(10), await sweep(10)], [10, 10, 5, 0]);
  });
}
