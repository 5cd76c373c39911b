import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { BytesReply } from './bytes-reply.ts';
import { createFakeExchange } from './testing/fake-exchange.ts';

const sound = Buffer.alloc(64, 0xff);
const headers = { 'content-type': 'audio/mpeg' };

function start(takesOver = false) {
  const fake = createFakeExchange({ dialect: chatDialects['openai-chat'], takesOver });
  const check = (first: Buffer | undefined): GatewayError | undefined =>
    first?.equals(sound) === true ? undefined : new GatewayError('upstream_invalid_reply', 'no sound');
  const flow = {
    pause: () => fake.controller.pause(),
    resume: () => fake.controller.resume(),
    stop: () => fake.controller.abort(new Error()),
  };
  const relay = { check, pieceOf: (chunk: Buffer) => chunk };
  return { ...fake, reply: new BytesReply(fake.context, flow, relay, { passed: headers, received: {} }) };
}

const ends = ({ outcomes }: Pick<ReturnType<typeof start>, 'outcomes'>) => outcomes.map(({ end, error }) => [end, error?.code]);

describe('a reply in bytes passes through', () => {
  test('it passes on as it arrives, and ends when it is in the books', () => {
    const fake = start();
    fake.reply.data(sound);
    fake.reply.data(Buffer.from('more'));
    fake.reply.end();
    assert.deepEqual([fake.response.status, fake.response.headers], [200, headers]);
    assert.ok(Buffer.concat(fake.response.chunks).equals(Buffer.concat([sound, Buffer.from('more')])));
    assert.deepEqual(ends(fake), [['finished', undefined]]);
    assert.ok(fake.response.writableEnded);
  });

  for (const [name, first] of [
    ['begins as none does', Buffer.from('{"error":1}')],
    ['has none at all', undefined],
  ] as const)
    test(`a reply that ${name} has delivered nothing: another attempt may answer, otherwise it is an error`, () => {
      const handed = start(true);
      const alone = start();
      for (const { reply } of [handed, alone]) {
        if (first === undefined) reply.end();
        else reply.data(first);
      }
      assert.deepEqual([handed.outcomes.length, handed.handedOver[0]?.error.code], [0, 'upstream_invalid_reply']);
      assert.deepEqual([ends(alone), alone.response.status], [[['failed', 'upstream_invalid_reply']], 502]);
    });

  test('a reply that fails closes the connection of its client', () => {
    const fake = start(true);
    fake.reply.data(sound);
    fake.reply.fail(new GatewayError('upstream_connection_error', 'cut'));
    assert.deepEqual([ends(fake), fake.response.destroyed, fake.handedOver.length], [[['cut', 'upstream_connection_error']], true, 0]);
  });

  test('it waits for a slow reader, and aborts for a stalled one', () => {
    const fake = start();
    fake.response.isFull = true;
    fake.reply.data(sound);
    assert.ok(fake.controller.paused);
    fake.response.drain();
    assert.ok(!fake.controller.paused);
    fake.response.isFull = true;
    fake.reply.data(sound);
    fake.reply.check(fake.advance(fake.context.timeouts.stalledReaderMs));
    assert.deepEqual([ends(fake), fake.response.destroyed, fake.controller.aborted], [[['client-left', undefined]], true, true]);
  });

  test('a silent reply is cut, and a reply without a client is read to its end if its key says so', () => {
    const silent = start();
    silent.reply.data(sound);
    silent.reply.check(silent.advance(silent.context.timeouts.idleMs));
    assert.deepEqual(ends(silent), [['cut', 'upstream_timeout']]);
    const left = start();
    left.reply.data(sound);
    left.reply.clientLeft(true);
    left.reply.data(sound);
    assert.equal(left.outcomes.length, 0);
    left.reply.end();
    assert.deepEqual([ends(left), left.response.chunks.length], [[['client-left', undefined]], 1]);
  });
});
