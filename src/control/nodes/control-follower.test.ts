import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';

import { createControlFollower } from './control-follower.ts';
import type { ControlSignals, ControlStore, NodeDescription, NodeReport } from './node-state.ts';

type Put = Parameters<ControlStore['putNodeState']>[0];

const override = { targetId: 'openai/*', reason: 'slow', actor: 'person:ann', setAtMs: 1, untilMs: 9 } as const;

/** A follower, and the store that it asks. */
function open() {
  const state = {
    nowMs: 1_000_000,
    signals: { overrides: [], reloads: 0, newestLayer: 0, limitQuestions: 0, watchedUntilMs: 0 } as ControlSignals,
    description: { upstreams: [], models: [], config: [] } as NodeDescription,
    isDown: false,
    pending: 0,
    puts: [] as Put[],
    followed: [] as ControlSignals[],
    removed: [] as (readonly [string, number])[],
    warnings: [] as string[],
  };
  const answer = async <Value>(value: () => Value): Promise<Value> => {
    if (state.isDown) throw new Error('the database is down');
    return value();
  };
  const follower = createControlFollower({
    nodeId: 'a/0',
    store: {
      readControl: () => answer(() => state.signals),
      putNodeState: (put) => answer(() => void state.puts.push(put)),
      removeNodeState: (...removed) => answer(() => void state.removed.push(removed)),
    },
    clock: { nowMs: () => state.nowMs } as Parameters<typeof createControlFollower>[0]['clock'],
    logger: { warn: (_fields: object, message: string) => void state.warnings.push(message) } as never,
    follow: (signals) => void state.followed.push(signals),
    // The report only needs to be recognised.
    report: () => ({ callsUnderWay: state.nowMs }) as NodeReport,
    journalPending: () => state.pending,
    describe: () => state.description,
  });
  const wait = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1000) {
      state.nowMs += 1000;
      mock.timers.tick(1000);
      // The next reading is made of some steps of promises.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    }
  };
  return { state, follower, wait };
}

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

test('the state is reported at the start with a description, and every 30 s without it', async () => {
  const { state, follower, wait } = open();
  await follower.start();
  assert.deepEqual(state.puts, [{ nodeId: 'a/0', atMs: 1_000_000, report: { callsUnderWay: 1_000_000 }, description: state.description }]);
  await wait(29_000);
  assert.deepEqual([state.puts.length, state.followed.length], [1, 30], 'orders are read once a second');
  await wait(1000);
  assert.deepEqual(state.puts.slice(1), [{ nodeId: 'a/0', atMs: 1_030_000, report: { callsUnderWay: 1_030_000 } }]);
  await follower.close();
});

test('while somebody looks, the state is reported every 2 s', async () => {
  const { state, follower, wait } = open();
  state.signals = { ...state.signals, watchedUntilMs: 1_010_000 };
  await follower.start();
  await wait(8000);
  assert.equal(state.puts.length, 5);
  await wait(20_000);
  assert.equal(state.puts.length, 5, 'nobody looks any more');
  await follower.close();
});

test('a journal that begins to wait, and one that has shipped all its calls, are reported at once', async () => {
  const { state, follower, wait } = open();
  await follower.start();
  state.pending = 3;
  await wait(1000);
  assert.equal(state.puts.length, 2);
  state.pending = 5;
  await wait(5000);
  assert.equal(state.puts.length, 2, 'that it waits is known');
  state.pending = 0;
  await wait(1000);
  assert.equal(state.puts.length, 3);
  await follower.close();
});

test('a change of the orders or of the description is reported at once, after it is followed', async () => {
  const { state, follower, wait } = open();
  await follower.start();
  state.signals = { ...state.signals, overrides: [override] };
  await wait(1000);
  assert.deepEqual(state.followed.at(-1)?.overrides, [override]);
  assert.deepEqual([state.puts.length, state.puts[1]?.description], [2, undefined]);
  state.signals = { ...state.signals, reloads: 1 };
  await wait(1000);
  assert.equal(state.puts.length, 3);
  state.signals = { ...state.signals, newestLayer: 3 };
  await wait(1000);
  assert.equal(state.puts.length, 4);
  state.description = { ...state.description, models: [] };
  await wait(1000);
  assert.deepEqual([state.puts.length, state.puts[4]?.description], [5, state.description]);
  await wait(5000);
  assert.equal(state.puts.length, 5);
  await follower.close();
});

test('while the store is down the last orders hold, one line says so, and a report follows when it is back', async () => {
  const { state, follower, wait } = open();
  await follower.start();
  state.isDown = true;
  await wait(3000);
  assert.deepEqual([state.followed.length, state.warnings], [1, ['reading the orders of operators failed']]);
  state.isDown = false;
  state.signals = { ...state.signals, reloads: 2 };
  await wait(1000);
  assert.deepEqual([state.followed.length, state.puts.length], [2, 2]);
  state.isDown = true;
  await wait(1000);
  assert.equal(state.warnings.length, 2, 'a second outage is another line');
  state.isDown = false;
  await follower.close();
});

test('an end removes the state of this gateway, and of those that were silent for a day; nothing is read afterwards', async () => {
  const { state, follower, wait } = open();
  await follower.start();
  await follower.close();
  assert.deepEqual(state.removed, [['a/0', 1_000_000 - 86_400_000]]);
  await wait(5000);
  assert.equal(state.followed.length, 1);
});

test('an end without the store says that the state remains', async () => {
  const { state, follower } = open();
  await follower.start();
  state.isDown = true;
  await follower.close();
  assert.deepEqual(state.warnings, ['removing the state of the gateway failed']);
});
