import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';

import { writeContent } from './write-content.ts';

class FakeReply extends EventEmitter {
  written = 0;
  destroyed = false;
  ended = false;
  readonly #isSlow: boolean;

  constructor(isSlow: boolean) {
    super();
    this.#isSlow = isSlow;
  }

  write(bytes: Buffer): boolean {
    this.written += bytes.length;
    return !this.#isSlow;
  }

  end(): void {
    this.ended = true;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

async function* pieces(count: number, produced: { count: number; freed: boolean }): AsyncGenerator<Uint8Array> {
  try {
    for (let index = 0; index < count; index += 1) {
      produced.count += 1;
      yield new Uint8Array(100);
    }
  } finally {
    produced.freed = true;
  }
}

const start = (isSlow: boolean, count: number, bytes: number, stalledReaderMs = 1000) => {
  const reply = new FakeReply(isSlow);
  const left = new AbortController();
  const produced = { count: 0, freed: false };
  const ended = writeContent(reply, pieces(count, produced), bytes, { stalledReaderMs, signal: left.signal });
  return { reply, left, produced, ended };
};

test('a file is sent to its end', async () => {
  const { reply, produced, ended } = start(false, 10, 1000);
  assert.equal(await ended, 'sent');
  assert.deepEqual([reply.written, reply.ended, reply.destroyed, produced.freed], [1000, true, false, true]);
});

test('nothing is read while the client does not read, and waiting leaves no listener behind', async () => {
  const { reply, produced, ended } = start(true, 50, 5000);
  for (let index = 1; index <= 50; index += 1) {
    while (reply.listenerCount('drain') === 0) await new Promise(setImmediate);
    assert.equal(produced.count, index);
    assert.equal(reply.listenerCount('drain'), 1);
    reply.emit('drain');
  }
  assert.equal(await ended, 'sent');
  assert.equal(reply.listenerCount('drain'), 0);
});

test('a client that stops reading is disconnected, and its source is freed', async () => {
  const { reply, produced, ended } = start(true, 50, 5000, 10);
  assert.equal(await ended, 'stalled');
  assert.deepEqual([reply.destroyed, reply.ended, produced.freed, produced.count], [true, false, true, 1]);
});

test('a client that disconnects frees the source', async () => {
  const { reply, left, produced, ended } = start(true, 50, 5000);
  while (reply.listenerCount('drain') === 0) await new Promise(setImmediate);
  left.abort();
  assert.equal(await ended, 'left');
  assert.deepEqual([produced.freed, produced.count], [true, 1]);
});

test('a source that is too short never looks complete', async () => {
  const { reply, ended } = start(false, 3, 1000);
  assert.equal(await ended, 'short');
  assert.deepEqual([reply.destroyed, reply.ended], [true, false]);
});

test('a source that is too long is cut at the announced length', async () => {
  const { reply, produced, ended } = start(false, 10, 250);
  assert.equal(await ended, 'sent');
  assert.deepEqual([reply.written, produced.count, produced.freed], [250, 3, true]);
});
