import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CallEntry } from '../../../../billing/ledger/call-entry.ts';
import type { GatewayError } from '../../../../inference/gateway-error.ts';
import { createReplyOwners } from './reply-owners.ts';

const entry = (replyId: string, userName: string): CallEntry => ({ replyId, userName, upstream: 'eu' }) as CallEntry;
const chained = (replyId: string) => ({ replyId, param: 'previous_response_id' });

test("another tenant's reply is answered exactly like a missing one", async () => {
  const owners = createReplyOwners({ store: { findReplyOwner: () => Promise.resolve(undefined) } });
  owners.remember(entry('resp_alice', 'alice'));
  assert.equal(await owners.check(chained('resp_alice'), 'alice'), 'eu', 'the call must go to the upstream that stores it');
  const refusals = await Promise.all(
    ['resp_alice', 'resp_other'].map((id) =>
      owners.check(chained(id), 'bob').then(
        () => assert.fail('it was allowed'),
        (error: unknown) => error as GatewayError,
      ),
    ),
  );
  assert.deepEqual(
    refusals.map(({ code, status, param, message }) => ({ code, status, param, message: message.replace(/resp_\w+/, 'ID') })),
    Array.from({ length: 2 }, () => ({
      code: 'reply_not_found',
      status: 400,
      param: 'previous_response_id',
      message: "Previous response with id 'ID' not found.",
    })),
  );
});

test('a reply that was booked long ago is found in the store, and memory stays bounded', async () => {
  const owners = createReplyOwners({
    store: {
      findReplyOwner: (id) => Promise.resolve(id === 'resp_0' ? { userName: 'alice', callId: 'req_1', upstream: 'one' } : undefined),
    },
  });
  for (let index = 0; index <= 20_000; index++) owners.remember(entry(`resp_${index}`, 'alice'));
  assert.equal(await owners.check(chained('resp_0'), 'alice'), 'one');
  await assert.rejects(owners.check(chained('resp_0'), 'bob'), { code: 'reply_not_found' });
});

test('a store that does not answer is a 503, never a wrong answer', async () => {
  const owners = createReplyOwners({ store: { findReplyOwner: () => Promise.reject(new Error('down')) } });
  await assert.rejects(owners.check(chained('resp_1'), 'alice'), { code: 'accounts_unavailable', status: 503 });
});
