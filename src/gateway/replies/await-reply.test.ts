import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';

import { GatewayError } from '../../inference/gateway-error.ts';
import { awaitReply } from './event-reply.ts';
import type { ClientReply } from './client-reply.ts';
import { writeReply } from './write-reply.ts';

const { signal } = new AbortController();

const isGivenUp = (error: unknown): boolean => error instanceof GatewayError && error.code === 'request_timeout';

test('a whole reply is read as it was written, and its call learns that all of it has arrived', async () => {
  const closed = Promise.withResolvers<boolean>();
  const answer = await awaitReply(signal, (reply) => {
    reply.on('close', () => closed.resolve(reply.writableFinished));
    writeReply(reply, 201, { 'content-type': 'application/json' }, Buffer.from('{"a":1}'));
    return Promise.resolve();
  });
  assert.deepEqual([answer.status, answer.body.toString()], [201, '{"a":1}']);
  assert.equal(await closed.promise, true);
});

test('a call that is refused before its reply begins rejects, and leaves no listener behind', async () => {
  const refusal = new GatewayError('rate_limited', 'no');
  await assert.rejects(
    awaitReply(signal, () => Promise.reject(refusal)),
    refusal,
  );
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

for (const when of ['before', 'after'])
  test(`an abort ${when} the call begins informs the call, and nothing waits for it`, async () => {
    const gone = new AbortController();
    if (when === 'before') gone.abort();
    let seen: ClientReply | undefined;
    const waiting = awaitReply(gone.signal, (reply) => {
      seen = reply;
      return Promise.resolve();
    });
    gone.abort();
    await assert.rejects(waiting, isGivenUp);
    assert.deepEqual([seen?.destroyed, seen?.writableFinished], [true, false]);
  });

test('a call that aborts its reply rejects', async () => {
  await assert.rejects(
    awaitReply(signal, (reply) => {
      reply.destroy();
      return Promise.resolve();
    }),
    isGivenUp,
  );
});
