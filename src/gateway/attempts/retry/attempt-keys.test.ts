import type { PreparedCall } from '../../endpoints/chat/incoming-call.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startAttempts, type StartedAttempts } from './testing/fake-attempts.ts';

const takingKeys = (known: PreparedCall): PreparedCall => ({
  ...known,
  targets: known.targets.map((target) => ({ ...target, upstream: { ...target.upstream, takesIdempotencyKeys: true } })),
});
const keysOf = ({ sent }: StartedAttempts): readonly unknown[] => sent.map(({ request }) => request.headers['idempotency-key']);

describe('attempts carry idempotency keys', () => {
  test('an attempt that got no answer is repeated under the same key', async () => {
    const call = await startAttempts(['a'], { enrich: takingKeys });
    call.breakOff('ECONNRESET');
    await call.settle(5000);
    assert.deepEqual(keysOf(call), ['req_1-1', 'req_1-1']);
  });

  test('after an answer the key is another, because the upstream may repeat a recorded failure', async () => {
    const call = await startAttempts(['a'], { enrich: takingKeys });
    call.refuse(503);
    await call.settle(5000);
    assert.deepEqual(keysOf(call), ['req_1-1', 'req_1-2']);
  });

  test('another target gets another key', async () => {
    const call = await startAttempts(['a', 'b'], { enrich: takingKeys });
    call.breakOff('ECONNRESET');
    await call.settle();
    assert.deepEqual(keysOf(call), ['req_1-1', 'req_1-2']);
  });

  test('an upstream without keys receives none', async () => {
    const call = await startAttempts(['a']);
    assert.deepEqual(keysOf(call), [undefined]);
  });
});
