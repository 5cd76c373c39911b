import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';

import { StatisticsRefusedError, StatisticsUnavailableError } from '../../../billing/statistics/statistics.ts';
import type { Answers, AnswerQuery } from '../../../monitor/answers/answers.ts';
import { type AnswerPort, connectAnswers } from './connect-answers.ts';
import { piecesAhead } from './protocol.ts';
import { serveAnswers } from './serve-answers.ts';

const question: AnswerQuery = {
  form: 'stats',
  request: { granularity: 3, startSeconds: 0, endSeconds: 86_400 },
  scope: {},
  exportOptions: { detail: false, totals: undefined },
};

/** The asking and the answering side, as in two threads. */
function connect(open: Answers['open']) {
  const { port1, port2 } = new MessageChannel();
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    serveAnswers(port2, { open }, async () => {
      isClosed = true;
      resolve();
    });
  });
  return {
    connection: connectAnswers(port1 as unknown as AnswerPort),
    isClosed: () => isClosed,
    close: async () => {
      port1.postMessage({ type: 'close' });
      await closed;
      port1.close();
    },
  };
}

async function turns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Endless pieces, which count themselves and record their end. */
function createPieces(made: { count: number; ended: boolean }, last = Infinity): Answers['open'] {
  return async () =>
    (async function* generate() {
      try {
        while (made.count < last) {
          made.count += 1;
          yield new Uint8Array([made.count]);
        }
        return undefined;
      } finally {
        made.ended = true;
      }
    })();
}

const signal = new AbortController().signal;

test('pieces come in order and whole, and no more are made ahead than are allowed', async () => {
  const made = { count: 0, ended: false };
  const { connection, close } = connect(createPieces(made, 100));
  const pieces = await connection.open(question, signal);
  await turns();
  assert.equal(made.count, piecesAhead);
  const taken: number[] = [];
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    taken.push(...next.value);
    assert.ok(made.count <= taken.length + piecesAhead, `${made.count} pieces made for ${taken.length} taken`);
  }
  assert.deepEqual(
    taken,
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
  assert.equal(connection.count(), 0);
  await close();
});

for (const [how, leave] of [
  ['is broken off', (pieces: AsyncIterator<unknown>, left: AbortController) => (left.abort(new Error('left')), pieces.next())],
  ['is not taken to its end', (pieces: AsyncIterator<unknown>) => pieces.return?.()],
] as const) {
  test(`an answer that ${how} ends in the other thread too`, async () => {
    const made = { count: 0, ended: false };
    const { connection, close } = connect(createPieces(made));
    const left = new AbortController();
    const pieces = await connection.open(question, left.signal);
    await pieces.next();
    await Promise.resolve(leave(pieces, left)).catch(() => undefined);
    for (let turn = 0; turn < 1000 && !made.ended; turn += 1) await turns(1);
    assert.ok(made.ended);
    assert.equal(connection.count(), 0);
    await close();
  });
}

test('failures keep their kind: a refusal, a store that does not answer, and anything else', async () => {
  for (const [thrown, expected] of [
    [new StatisticsRefusedError('too much'), StatisticsRefusedError],
    [new StatisticsUnavailableError(new Error('the disk')), StatisticsUnavailableError],
    [new TypeError('odd'), Error],
  ] as const) {
    const { connection, close } = connect(() => Promise.reject(thrown));
    await assert.rejects(connection.open(question, signal), (error: Error) => {
      assert.ok(error instanceof expected);
      if (error instanceof StatisticsUnavailableError) assert.equal((error.cause as Error).message, 'the disk');
      else assert.equal(error.message, thrown.message);
      return true;
    });
    await close();
  }
});

test('a failure after the first pieces is reported after them', async () => {
  const { connection, close } = connect(async () =>
    (async function* generate() {
      yield new Uint8Array([1]);
      throw new Error('broke');
    })(),
  );
  const pieces = await connection.open(question, signal);
  assert.deepEqual(await pieces.next(), { done: false, value: new Uint8Array([1]) });
  await assert.rejects(async () => await pieces.next(), /broke/);
  await close();
});

test('answers of a thread that died fail as unavailable', async () => {
  const { connection, close } = connect(() => new Promise(() => {}));
  const opening = connection.open(question, signal);
  connection.fail(new Error('the thread died'));
  await assert.rejects(opening, StatisticsUnavailableError);
  await close();
});
