import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changeAt } from '../../src/audit/testing/test-change.ts';
import { createResponse, saveChain, setUpConversations, startMs } from './conversations/set-up.ts';
import { type StoreUnderTest, useEngine } from './store-under-test.ts';

const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);
const nowMs = startMs;

/** The contract of every store for lists of stored objects over several users, and their deletion by an operator. */
export function storedListSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  test('responses are listed newest first, of all users or some, by their facts; deleted, expired and lapsed ones count so', async () => {
    const store = engine().store();
    const { conversations } = setUpConversations(store);
    await saveChain(conversations, ['list-a', 'list-b'], { userName: 'lists-ann' });
    const bert = { userName: 'lists-bert', keyId: 'key_b', createdAtMs: startMs + 1 };
    await conversations.saveResponse(createResponse('list-c', { ...bert, conversationId: 'conv_lists' }));
    await conversations.saveResponse(createResponse('list-d', { ...bert, status: 'in_progress', leaseUntilMs: nowMs }));
    await conversations.saveResponse(createResponse('list-e', { ...bert, status: 'queued', leaseUntilMs: nowMs + 1 }));
    await conversations.saveResponse(createResponse('list-f', { ...bert, expiresAtMs: nowMs }));
    await conversations.saveResponse(createResponse('list-g', bert));
    await conversations.deleteResponse('lists-bert', 'list-g');
    const users = ['lists-ann', 'lists-bert'];
    const list = async (query: object) => idsOf(await store.queryResponses({ users, nowMs, limit: 10, ...query }));
    assert.deepEqual(await list({}), ['list-e', 'list-d', 'list-c', 'list-b', 'list-a']);
    assert.deepEqual(await list({ limit: 2 }), ['list-e', 'list-d']);
    assert.deepEqual(await list({ after: { createdAtMs: startMs + 1, id: 'list-d' }, limit: 2 }), ['list-c', 'list-b']);
    assert.deepEqual(await list({ users: ['lists-ann'] }), ['list-b', 'list-a']);
    assert.deepEqual(await list({ users: ['lists-ann'], userName: 'lists-bert' }), []);
    assert.deepEqual(await list({ users: [] }), []);
    assert.deepEqual(await list({ users: 'all', id: 'list-c' }), ['list-c']);
    assert.deepEqual(await list({ keyId: 'key_b', statuses: ['failed', 'queued'] }), ['list-e', 'list-d']);
    assert.deepEqual(await list({ previousResponseId: 'list-a' }), ['list-b']);
    assert.deepEqual(await list({ conversationId: 'conv_lists' }), ['list-c']);
    assert.deepEqual(await list({ fromMs: startMs + 1, toMs: startMs + 2, statuses: ['completed'] }), ['list-c']);
    const [first] = await store.queryResponses({ users: 'all', id: 'list-a', nowMs, limit: 1 });
    assert.deepEqual([first?.followers, first?.previousResponseId, first?.version], [1, undefined, 3]);
    assert.ok((first?.bytes ?? 0) > 100);
    const versions = (await store.queryResponses({ users, userName: 'lists-bert', nowMs, limit: 10 })).map(({ version }) => version);
    assert.deepEqual(versions, [1, 3, 3]);
  });

  test('a response and a conversation are deleted once, if they are as the operator has seen them, and it is audited', async () => {
    const store = engine().store();
    const { conversations } = setUpConversations(store);
    await saveChain(conversations, ['gone-a', 'gone-b'], { userName: 'gone-ann' });
    const removal = { userName: 'gone-ann', id: 'gone-a', nowMs, change: changeAt(1) };
    await assert.rejects(store.removeResponse({ ...removal, version: 2 }), { kind: 'version-mismatch' });
    assert.equal(await store.removeResponse({ ...removal, userName: 'gone-bert' }), false);
    assert.equal(await store.removeResponse({ ...removal, version: 3 }), true);
    assert.equal(await store.removeResponse(removal), false);
    assert.equal((await conversations.readChain('gone-ann', 'gone-b'))?.length, 4, 'the next response still has its history');
    const conversation = { id: 'gone-conv', userName: 'gone-ann', createdAtMs: startMs, metadata: {} };
    await conversations.createConversation(conversation, [{ id: 'one', type: 'message', content: 'x'.repeat(600) }]);
    const find = async () => (await store.queryConversations({ users: ['gone-ann'], id: 'gone-conv', nowMs, limit: 1 }))[0];
    const before = await find();
    assert.deepEqual([before?.items, before?.expiresAtMs, before?.version], [1, undefined, 2]);
    await conversations.appendItems('gone-ann', 'gone-conv', [{ id: 'two', type: 'message' }]);
    const appended = await find();
    assert.ok((appended?.bytes ?? 0) > (before?.bytes ?? 0));
    await conversations.deleteConversationItem('gone-ann', 'gone-conv', 'two');
    const after = await find();
    assert.deepEqual([after?.items, after?.bytes, after?.version], [1, before?.bytes, 4]);
    const whole = { ...removal, id: 'gone-conv' };
    await assert.rejects(store.removeConversation({ ...whole, version: 2 }), { kind: 'version-mismatch' });
    assert.equal(await store.removeConversation({ ...whole, version: 4 }), true);
    assert.deepEqual([await find(), await store.removeConversation(whole)], [undefined, false]);
    const rows = await store.listAudit({ limit: 2 });
    assert.deepEqual(
      rows.map(({ action, subject, before: was }) => [action, subject, was]),
      [
        ['conversations.delete', 'conversation:gone-conv', JSON.stringify({ user: 'gone-ann', created_at_ms: startMs })],
        ['responses.delete', 'response:gone-a', JSON.stringify({ user: 'gone-ann', created_at_ms: startMs })],
      ],
    );
  });

  test('files and vector stores are listed newest first with what belongs to them, and deleted', async () => {
    const store = engine().store();
    const addFile = async (id: string, userName: string, createdAtMs: number, expiresAtMs?: number) => {
      await store.beginUpload({ userName, fileId: id, startedAtMs: createdAtMs });
      const file = { id, userName, filename: 'f', purpose: id === 'sf-1' ? 'vision' : 'assistants', mediaType: 'text/plain', bytes: 3 };
      const expiry = expiresAtMs === undefined ? {} : { expiresAtMs };
      assert.equal(await store.finishUpload({ ...file, createdAtMs, ...expiry }, 1e9), true);
    };
    await addFile('sf-1', 'filer-ann', startMs);
    await addFile('sf-2', 'filer-bert', startMs + 1);
    await addFile('sf-3', 'filer-ann', startMs + 1);
    await addFile('sf-4', 'filer-ann', startMs + 2, nowMs);
    await store.beginUpload({ userName: 'filer-ann', fileId: 'sf-5', startedAtMs: startMs + 3 });
    const vectorStore = { id: 'sv-1', userName: 'filer-ann', name: 'n', metadata: {}, createdAtMs: startMs, lastActiveAtMs: startMs };
    await store.insertVectorStore(vectorStore);
    const chunking = { isAuto: true, tokensMax: 800, overlapTokens: 400 };
    await store.addStoreFiles({
      storeId: 'sv-1',
      userName: 'filer-ann',
      files: [{ fileId: 'sf-3', attributes: {}, chunking }],
      nowMs: startMs + 5,
    });
    const users = ['filer-ann', 'filer-bert'];
    const files = async (query: object) => idsOf(await store.queryFiles({ users, nowMs, limit: 10, ...query }));
    assert.deepEqual(await files({}), ['sf-3', 'sf-2', 'sf-1']);
    assert.deepEqual(await files({ users: ['filer-bert'] }), ['sf-2']);
    assert.deepEqual(await files({ purpose: 'vision' }), ['sf-1']);
    assert.deepEqual(await files({ storeId: 'sv-1' }), ['sf-3']);
    assert.deepEqual(await files({ id: 'sf-5' }), []);
    const stores = async (query: object) => await store.queryVectorStores({ users, limit: 10, ...query });
    const [found] = await stores({});
    assert.deepEqual([found?.id, found?.counts.in_progress, found?.lastActiveAtMs], ['sv-1', 1, startMs + 5]);
    assert.deepEqual(await stores({ users: ['filer-bert'] }), []);
    const removal = { userName: 'filer-ann', change: changeAt(1) };
    await assert.rejects(store.removeVectorStore({ ...removal, id: 'sv-1', version: startMs }), { kind: 'version-mismatch' });
    assert.equal(await store.removeVectorStore({ ...removal, id: 'sv-1', version: startMs + 5 }), true);
    assert.equal(await store.removeVectorStore({ ...removal, id: 'sv-1' }), false);
    assert.equal(await store.removeFile({ ...removal, userName: 'filer-bert', id: 'sf-3' }), false);
    assert.equal(await store.removeFile({ ...removal, id: 'sf-3' }), true);
    assert.deepEqual(await files({}), ['sf-2', 'sf-1']);
    const rows = await store.listAudit({ limit: 2 });
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['files.delete', 'vector_stores.delete'],
    );
  });
}
