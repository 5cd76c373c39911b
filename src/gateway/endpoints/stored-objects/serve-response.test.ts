import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createFakeConversations } from '../../../conversations/testing/fake-conversations.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { defaultLimits } from '../../settings/limits.ts';
import { serveStoredObject } from './serve-stored-objects.ts';
import type { StoredObjectRequest, StoredObjects } from './stored-objects.ts';

const keeper = { upstream: 'openai', credential: '0' };

async function setUp(more: Partial<StoredObjects> = {}) {
  const conversations = createFakeConversations();
  await conversations.saveResponse({
    id: 'resp_1',
    userName: 'anna',
    keyId: 'k',
    createdAtMs: 0,
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    status: 'completed',
    keeper,
    input: [],
    response: { id: 'resp_1', output: [] },
  });
  const stored: StoredObjects = { conversations, ...more };
  const ask = (action: 'show' | 'delete', userName = 'anna', query = '') => {
    const http = { request: {}, response: {} } as Pick<StoredObjectRequest, 'request' | 'response'>;
    const settings = { limits: defaultLimits, validation: 'compatible' as const, retentionDays: 30 };
    const rest = {
      callId: 'req_1',
      query: new URLSearchParams(query),
      params: { id: 'resp_1' },
      settings,
      nowMs: 0,
      newId: String,
      mayHold: () => true,
    };
    return serveStoredObject(stored, { object: 'response', action }, { caller: { userName }, ...http, ...rest });
  };
  return { conversations, ask };
}

test('a response that an upstream stores is deleted there first, and stays if that fails', async () => {
  const deletedThere: unknown[] = [];
  let fails = true;
  const { conversations, ask } = await setUp({
    deleteAtKeeper: async (...deleted) => {
      if (fails) throw new GatewayError('upstream_unreachable', 'it is down');
      deletedThere.push(deleted, (await conversations.findResponse('anna', 'resp_1'))?.id);
    },
  });
  await assert.rejects(ask('delete', 'bert'), { code: 'object_not_found' });
  await assert.rejects(ask('delete'), { code: 'upstream_unreachable' });
  assert.deepEqual(await ask('show'), { id: 'resp_1', output: [] });
  fails = false;
  assert.deepEqual(await ask('delete'), { id: 'resp_1', object: 'response', deleted: true });
  assert.deepEqual(deletedThere, [[keeper, 'resp_1'], 'resp_1']);
  await assert.rejects(ask('delete'), { code: 'object_not_found', message: "Response with id 'resp_1' not found." });
});

test('a stored stream is written for its user only', async () => {
  const streams: unknown[] = [];
  const { ask } = await setUp({
    streamStored: async ({ userName, id, query }) => void streams.push([userName, id, query.get('starting_after')]),
  });
  assert.equal(await ask('show', 'anna', 'stream=true&starting_after=4'), undefined);
  await assert.rejects(ask('show', 'bert', 'stream=true'), { code: 'object_not_found' });
  assert.deepEqual(streams, [['anna', 'resp_1', '4']]);
  await assert.rejects((await setUp()).ask('show', 'anna', 'stream=true'), { code: 'invalid_value', param: 'stream' });
});
