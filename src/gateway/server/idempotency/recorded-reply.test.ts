import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';

import type { ClientReply } from '../../replies/client-reply.ts';
import { RecordedReply, type ReplyListener } from './recorded-reply.ts';

/** A client's connection that reads and disconnects as the test says. */
class FakeClient extends EventEmitter {
  headersSent = false;
  statusCode = 200;
  destroyed = false;
  writableEnded = false;
  writableFinished = false;
  shouldKeepAlive = true;
  takes = true;
  text = '';
  timeout: (() => void) | undefined;

  writeHead(status: number): this {
    this.headersSent = true;
    this.statusCode = status;
    return this;
  }

  setHeader(): this {
    return this;
  }

  write(bytes: Buffer): boolean {
    this.headersSent = true;
    this.text += bytes.toString();
    return this.takes;
  }

  end(body?: Buffer | string): this {
    this.text += body?.toString() ?? '';
    this.writableEnded = true;
    this.writableFinished = true;
    return this;
  }

  setTimeout(_ms: number, onTimeout: () => void): this {
    this.timeout = onTimeout;
    return this;
  }

  destroy(): this {
    this.destroyed = true;
    this.emit('close');
    return this;
  }
}

type Tape = ReplyListener & {
  text: string;
  keepsUp: boolean;
  room: PromiseWithResolvers<void>;
  ends: unknown[];
  before: Promise<void> | undefined;
};

function createTape(): Tape {
  const tape: Tape = {
    text: '',
    keepsUp: true,
    room: Promise.withResolvers<void>(),
    ends: [],
    before: undefined,
    add: (bytes) => {
      tape.text += bytes.toString();
      return tape.keepsUp;
    },
    whenRoom: () => tape.room.promise,
    ended: (end) => {
      tape.ends.push(end);
      return tape.before;
    },
  };
  return tape;
}

function begin(patienceMs = 60_000) {
  const client = new FakeClient();
  const reply = new RecordedReply(client satisfies ClientReply, patienceMs);
  const tape = createTape();
  return { client, reply, tape };
}

const nextEvent = (reply: RecordedReply, event: 'drain' | 'close'): Promise<void> =>
  new Promise((resolve) => void reply.once(event, resolve));

test('before the recording the client is visible as it is', async () => {
  const { client, reply, tape } = begin();
  reply.writeHead(418, {});
  assert.equal(reply.write(Buffer.from('a')), true);
  client.takes = false;
  assert.equal(reply.write(Buffer.from('b')), false);
  const drained = nextEvent(reply, 'drain');
  client.emit('drain');
  await drained;
  reply.shouldKeepAlive = false;
  reply.setTimeout(1, () => {});
  assert.deepEqual([reply.headersSent, reply.statusCode, reply.shouldKeepAlive, client.shouldKeepAlive], [true, 418, false, false]);
  const closed = nextEvent(reply, 'close');
  client.destroy();
  await closed;
  assert.deepEqual([client.text, tape.text, reply.destroyed], ['ab', '', true]);
});

test('the recorded reply goes to both, and its end is reported once', async () => {
  const { client, reply, tape } = begin();
  reply.record(tape);
  reply.setHeader('X-One', '1');
  reply.writeHead(200, ['Content-Type', 'text/plain']);
  reply.write(Buffer.from('a'));
  reply.end('\u00e4', 'latin1');
  reply.end('again', 'latin1');
  assert.equal(reply.write(Buffer.from('late')), true);
  assert.deepEqual([client.text, tape.text], ['a\u00e4', Buffer.from('a\u00e4', 'latin1').toString()]);
  assert.deepEqual(tape.ends, [{ status: 200, headers: { 'x-one': '1', 'content-type': 'text/plain' }, isBroken: false }]);
  assert.deepEqual([reply.writableEnded, reply.writableFinished, reply.destroyed], [true, true, false]);
  const closed = nextEvent(reply, 'close');
  client.destroy();
  await closed;
  assert.equal(reply.destroyed, true);
  assert.equal(tape.ends.length, 1);
});

test('the reply continues to its end without its client', async () => {
  const { client, reply, tape } = begin();
  reply.record(tape);
  reply.write(Buffer.from('a'));
  client.destroy();
  assert.equal(reply.destroyed, false);
  client.takes = false;
  assert.equal(reply.write(Buffer.from('b')), true, 'nobody is waited for');
  const closed = nextEvent(reply, 'close');
  reply.end(Buffer.from('c'));
  await closed;
  assert.deepEqual([client.text, tape.text, tape.ends.length, reply.writableFinished], ['a', 'abc', 1, true]);
});

test('a client that does not read is left behind before the writer aborts', async () => {
  const { client, reply, tape } = begin(5);
  reply.record(tape);
  client.takes = false;
  assert.equal(reply.write(Buffer.from('a')), false);
  await nextEvent(reply, 'drain');
  assert.deepEqual([client.destroyed, reply.destroyed], [true, false]);
  reply.end();
  assert.equal(tape.ends.length, 1);
});

test('a client that reads on, and a store that catches up, are waited for', async () => {
  const { client, reply, tape } = begin();
  reply.record(tape);
  client.takes = false;
  tape.keepsUp = false;
  assert.equal(reply.write(Buffer.from('a')), false);
  let isDrained = false;
  const drained = nextEvent(reply, 'drain').then(() => (isDrained = true));
  client.emit('drain');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isDrained, false);
  tape.room.resolve();
  await drained;
  assert.equal(client.destroyed, false);
});

test('the end of a slow client’s connection does not end the reply; an abort does', () => {
  const { client, reply, tape } = begin();
  reply.record(tape);
  let isTold = false;
  reply.setTimeout(5, () => {
    isTold = true;
  });
  client.timeout?.();
  assert.deepEqual([client.destroyed, isTold, tape.ends.length], [true, false, 0]);
  reply.destroy();
  reply.destroy();
  assert.deepEqual(tape.ends, [{ status: 200, headers: {}, isBroken: true }]);
  assert.equal(reply.destroyed, true);
});

test("work before the client's end is waited for, also without a client", async () => {
  for (const leaves of [false, true]) {
    const { client, reply, tape } = begin();
    reply.record(tape);
    const done = Promise.withResolvers<void>();
    tape.before = done.promise;
    const closed = nextEvent(reply, 'close');
    reply.end(Buffer.from('a'));
    assert.deepEqual([client.text, reply.writableEnded, reply.writableFinished], ['', true, false]);
    if (leaves) client.destroy();
    done.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(client.text, leaves ? '' : 'a');
    if (!leaves) client.destroy();
    await closed;
  }
});
