import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';

import { systemClock } from '../platform/clock.ts';
import type { ConversationLimits } from './conversation-limits.ts';
import type { ConversationStore } from './conversation-store.ts';
import { createConversations } from './create-conversations.ts';
import { createFakeConversationStore } from './testing/fake-conversation-store.ts';
import type { StoredResponse } from './response-store.ts';

const response = (id: string, text = ''): StoredResponse => ({
  id,
  userName: 'anna',
  keyId: 'k',
  createdAtMs: 0,
  expiresAtMs: Number.MAX_SAFE_INTEGER,
  status: 'completed',
  input: [{ id: `in_${id}`, text }],
  response: { id, output: [] },
});

function setUp(changes: Partial<ConversationStore> = {}, limits: Partial<ConversationLimits> = {}) {
  const store = { ...createFakeConversationStore(), ...changes };
  const batches: number[] = [];
  const counted: ConversationStore = {
    ...store,
    writeConversations: async (writes) => {
      batches.push(writes.length);
      await setImmediate();
      return await store.writeConversations(writes);
    },
  };
  return { batches, conversations: createConversations({ store: counted, key: randomBytes(32), clock: systemClock, limits }) };
}

test('objects that are saved during a commit are in the next one', async () => {
  const { conversations, batches } = setUp();
  await Promise.all(Array.from({ length: 1000 }, (_, index) => conversations.saveResponse(response(`r${index}`))));
  assert.ok(batches.length <= 6, `${batches.length} commits`);
  assert.equal(
    batches.reduce((sum, count) => sum + count, 0),
    1000,
  );
  assert.ok(Math.max(...batches) <= 256);
});

test('a store failure is reported as unavailable, and later writes succeed', async () => {
  const failure = new Error('disk on fire');
  let down = true;
  const working = createFakeConversationStore();
  const { conversations } = setUp({
    writeConversations: async (writes) => {
      if (down) throw failure;
      return await working.writeConversations(writes);
    },
    findSealedResponse: async () => {
      throw failure;
    },
  });
  const unavailable = { name: 'GatewayError', code: 'responses_unavailable', retryAfterSeconds: 1, cause: failure };
  await assert.rejects(conversations.saveResponse(response('a')), unavailable);
  await assert.rejects(conversations.findResponse('anna', 'a'), unavailable);
  down = false;
  assert.equal(await conversations.saveResponse(response('a')), true);
});

test('one write that the database refuses fails alone', async () => {
  const { conversations } = setUp({ writeConversations: async (writes) => writes.map((_, index) => (index === 1 ? 'failed' : 'done')) });
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => conversations.saveResponse(response(id))));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});

test('objects that are too large are neither stored nor read', async () => {
  const { conversations } = setUp({}, { responseBytesMax: 10_000, historyBytesMax: 20_000 });
  const noise = randomBytes(3500).toString('hex');
  await assert.rejects(conversations.saveResponse(response('large', noise + noise)), { code: 'request_too_large' });
  await conversations.saveResponse(response('a0', noise));
  for (let turn = 1; turn < 10; turn += 1) {
    const text = randomBytes(3500).toString('hex');
    await conversations.saveResponse({ ...response(`a${turn}`, text), previousResponseId: `a${turn - 1}` });
  }
  assert.equal((await conversations.readChain('anna', 'a2'))?.length, 3);
  await assert.rejects(conversations.readChain('anna', 'a9'), { code: 'context_length_exceeded' });
  assert.equal((await conversations.findResponse('anna', 'a9'))?.id, 'a9');
});

test('large bodies, which are compressed in other threads, are restored unchanged', async () => {
  const { conversations } = setUp();
  for (const size of [0, 500, 511, 512, 131_072, 3_000_000]) {
    const saved = response(`r${size}`, 'ab模\ud800\0'.repeat(size / 5));
    await conversations.saveResponse(saved);
    assert.deepEqual(await conversations.findResponse('anna', `r${size}`), saved);
  }
});
