import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createChannelPair } from './testing/fake-channels.ts';
import { createIpc, IpcError } from './ipc.ts';

type Sums = {
  readonly add: { readonly ask: readonly number[]; readonly answer: number };
  readonly fail: { readonly ask: undefined; readonly answer: undefined };
  readonly never: { readonly ask: undefined; readonly answer: undefined };
};
type Nothing = Record<never, never>;

function setUp(pendingMax?: number) {
  const { ends, cut } = createChannelPair();
  const failures: string[] = [];
  const told: (readonly number[])[] = [];
  createIpc<Nothing, Sums>({
    channel: ends[1],
    onFailure: (topic, error) => failures.push(`${topic}: ${String(error)}`),
    handlers: {
      add: (numbers) => {
        told.push(numbers);
        return numbers.reduce((sum, number) => sum + number, 0);
      },
      fail: () => {
        throw new Error('it cannot');
      },
      never: () => new Promise<undefined>(() => {}),
    },
  });
  const asker = createIpc<Sums, Nothing>({
    channel: ends[0],
    onFailure: () => {},
    handlers: {},
    ...(pendingMax === undefined ? {} : { pendingMax }),
  });
  return { asker, cut, failures, told, ends };
}

describe('questions between processes', () => {
  test('answers find their requests, with any number of open ones', async () => {
    const { asker } = setUp();
    const sums = await Promise.all(Array.from({ length: 500 }, (_, index) => asker.ask('add', [index, 1], 30_000)));
    assert.deepEqual(
      sums,
      Array.from({ length: 500 }, (_, index) => index + 1),
    );
  });

  test('a failure of the other side rejects here with its message', async () => {
    const { asker } = setUp();
    await assert.rejects(asker.ask('fail', undefined, 30_000), (error) => error instanceof IpcError && error.message === 'it cannot');
  });

  test('a topic that is not served, also one that every object has, is a failure', async () => {
    const { asker, failures } = setUp();
    await assert.rejects(asker.ask('toString' as never, undefined as never, 30_000), /not known/);
    asker.tell('fail', undefined);
    await assert.rejects(asker.ask('fail', undefined, 30_000));
    assert.match(failures.join(), /^fail: .*it cannot/);
  });

  test('no answer in time, and an answer that comes too late changes nothing', async () => {
    const { asker } = setUp();
    const startedMs = performance.now();
    await assert.rejects(asker.ask('never', undefined, 30), /in time/);
    assert.ok(performance.now() - startedMs < 30_000);
    await assert.rejects(asker.ask('add', [1], 0), /in time/).catch(() => {});
    assert.equal(await asker.ask('add', [2], 30_000), 2);
  });

  test('open and later requests reject at once when the other side ends', async () => {
    const { asker, cut } = setUp();
    const waiting = asker.ask('never', undefined, 60_000);
    cut();
    asker.end();
    await assert.rejects(waiting, /ended/);
    await assert.rejects(asker.ask('add', [1], 60_000), /ended/);
  });

  test('open requests are limited', async () => {
    const { asker } = setUp(2);
    const waiting = [asker.ask('never', undefined, 50), asker.ask('never', undefined, 50)];
    await assert.rejects(asker.ask('add', [1], 30_000), /2 questions/);
    for (const each of waiting) await assert.rejects(each);
    assert.equal(await asker.ask('add', [1], 30_000), 1);
  });

  test('other messages on the channel are ignored', async () => {
    const { asker, ends, told } = setUp();
    for (const message of [null, 'text', 7, {}, { cmd: 'NODE_X' }, { weir: 'unknown' }]) ends[0].send(message);
    await asker.ask('add', [1], 30_000);
    assert.equal(told.length, 1);
  });
});
