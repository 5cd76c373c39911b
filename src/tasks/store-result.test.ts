import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { VideoTask } from './video-task.ts';
import { plainScript, SimulatedWorld } from './testing/simulation/simulated-world.ts';
import type { TaskSettings, VideoTasksOptions } from './task-parts.ts';
import { type OpenedResult, ResultError, type VideoUpstreams } from './video-upstreams.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

type Opened = (attempt: number, signal: AbortSignal) => Promise<OpenedResult>;

type Bench = { readonly world: SimulatedWorld; readonly task: () => VideoTask; readonly attempts: () => number };

/** A task whose upstream has finished, with the given behaviour of its file. */
async function finish(
  open: Opened,
  changed: Partial<VideoTasksOptions> = {},
  settings: Partial<TaskSettings> = {},
  story = plainScript,
): Promise<Bench> {
  const world = new SimulatedWorld(1, settings);
  let attempts = 0;
  const openResult: VideoUpstreams['openResult'] = (_task, _result, signal) => open((attempts += 1), signal);
  const { ask, submitAgain } = world.upstreams;
  const process = world.startProcess({ upstreams: { ask, submitAgain, openResult }, ...changed });
  void world.submit(process, world.plan(story));
  await world.time.pass(45_000);
  const task = (): VideoTask => [...world.store.rows.values()][0]?.task ?? assert.fail();
  return { world, task, attempts: () => attempts };
}

async function* pieces(count: number): AsyncIterable<Uint8Array> {
  for (let index = 0; index < count; index++) yield index === 0 ? beginning() : new Uint8Array(1000);
}

/** The first bytes of a file. */
function beginning(magic: string | Uint8Array = '\0\0\0\u0018ftypmp42'): Uint8Array {
  const piece = new Uint8Array(1000);
  piece.set(Buffer.from(magic as string, 'latin1'));
  return piece;
}

async function* startingWith(magic: string): AsyncIterable<Uint8Array> {
  yield beginning(magic);
  yield new Uint8Array(2000);
}

const whole = (): OpenedResult => ({ mediaType: 'video/mp4', bytes: 3000, content: pieces(3) });
const gone = (): never => {
  throw new ResultError('404', { isGone: true });
};

test('a task is completed when its file is stored, and not before', async () => {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
  const { world, task } = await finish(async () => {
    await mayGoOn;
    return whole();
  });
  assert.deepEqual([task().phase, task().progress, world.store.ledger.size, world.store.deliveries.length], ['storing', 99, 0, 0]);
  assert.ok(task().result !== undefined && !Buffer.from(task().result ?? '', 'base64').includes('file-of'));
  goOn();
  await world.time.pass(1000);
  const { phase, progress, media, durationMs, chargedNanoUsd, expiresAtMs, endedAtMs } = task();
  assert.deepEqual(
    [phase, progress, media?.bytes, media?.mediaType, durationMs, chargedNanoUsd],
    ['completed', 100, 3000, 'video/mp4', 5000, 6000n],
  );
  assert.equal((expiresAtMs ?? 0) - (endedAtMs ?? 0), 7 * 24 * hourMs);
  assert.deepEqual(world.store.ledger.get(task().callId)?.rawUsage, { cost: 1 });
  world.time.clear();
});

const bad: readonly (readonly [string, Opened])[] = [
  ['is truncated', async () => ({ ...whole(), content: pieces(2) })],
  ['is longer than announced', async () => ({ ...whole(), content: pieces(4) })],
  ['is empty', async () => ({ ...whole(), bytes: undefined, content: pieces(0) })],
  ['is a page that says sorry', async () => ({ ...whole(), mediaType: 'text/html; charset=utf-8' })],
  ['is a JSON object', async () => ({ ...whole(), mediaType: 'application/json' })],
  ['is announced as too large', async () => ({ ...whole(), bytes: 1e9 })],
  ['is larger than it may be, unannounced', async () => ({ ...whole(), bytes: undefined, content: pieces(11) })],
  ['is a page under the type of a video', async () => ({ ...whole(), content: startingWith('<!doctype html>') })],
  ['lacks its beginning', async () => ({ ...whole(), content: startingWith('moov') })],
  ['is shorter than the beginning of a video', async () => ({ ...whole(), bytes: undefined, content: shortFile() })],
  ['is denied', async () => gone()],
  ['stalls', async (_, signal) => ({ ...whole(), content: standing(signal) })],
  ['never opens', () => new Promise(() => {})],
  ['breaks the gateway', () => Promise.reject(new TypeError('not a function'))],
];

async function* shortFile(): AsyncIterable<Uint8Array> {
  yield Buffer.from('ftyp');
}

async function* standing(signal: AbortSignal): AsyncIterable<Uint8Array> {
  yield beginning();
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('hung up')), { once: true }));
}

for (const [what, open] of bad) {
  test(`a file that ${what} completes no task and is retried, with an alert`, async () => {
    let refused: AbortSignal | undefined;
    const { world, task, attempts } = await finish(
      async (attempt, signal) => {
        if (attempt > 1) return whole();
        refused = signal;
        return await open(attempt, signal);
      },
      {},
      { fileBytesMax: 10_000 },
    );
    await world.time.pass(61_000);
    if (attempts() === 1) assert.ok(task().phase === 'storing' && task().alert !== undefined, JSON.stringify(task().alert));
    assert.ok(world.storage.files.size <= 1);
    await world.time.pass(hourMs);
    assert.deepEqual([task().phase, task().media?.bytes, attempts()], ['completed', 3000, 2]);
    assert.equal(world.storage.files.size, 1);
    assert.equal(refused?.aborted, true, 'the opened file is closed');
    world.time.clear();
  });
}

for (const [kind, magic] of [
  ['MP4', '\0\0\0\u0020ftypisom'],
  ['WebM', '\u001a\u0045\u00df\u00a3'],
] as const) {
  test(`a ${kind} file that arrives byte by byte is stored whole`, async () => {
    const { world, task } = await finish(async () => ({
      mediaType: 'video/mp4',
      bytes: 3000,
      content: (async function* byteByByte() {
        for await (const piece of startingWith(magic)) for (const byte of piece) yield Uint8Array.of(byte);
      })(),
    }));
    await world.time.pass(1000);
    assert.deepEqual([task().phase, task().media?.bytes], ['completed', 3000]);
    world.time.clear();
  });
}

test('a file that is gone for ten minutes is abandoned, free of charge, after at least three attempts', async () => {
  const { world, task, attempts } = await finish(async () => gone());
  await world.time.pass(9 * minuteMs);
  assert.equal(task().phase, 'storing');
  await world.time.pass(6 * minuteMs);
  const { phase, error, chargedNanoUsd } = task();
  assert.deepEqual([phase, error?.code, chargedNanoUsd], ['failed', 'result_unavailable', 0n]);
  assert.ok(attempts() >= 3);
  assert.deepEqual(
    world.store.deliveries.map(({ eventType }) => eventType),
    ['video.failed'],
  );
  world.time.clear();
});

test('a file that only fails is retried for as long as a video may take', async () => {
  const failing = async () => {
    throw new ResultError('500', { isGone: false });
  };
  const { world, task } = await finish(failing, {}, { giveUpMs: 2 * hourMs });
  await world.time.pass(1.9 * hourMs);
  assert.equal(task().phase, 'storing');
  await world.time.pass(0.3 * hourMs);
  assert.deepEqual([task().phase, task().error?.code], ['failed', 'result_unavailable']);
  world.time.clear();
});

test('an expired link is requested again', async () => {
  const world = new SimulatedWorld(1);
  let link = 'old';
  const opened: string[] = [];
  const upstreams: VideoUpstreams = {
    submitAgain: world.upstreams.submitAgain,
    ask: async () => ({ status: 'completed', result: link, durationMs: 5000 }),
    openResult: async (_task, result) => {
      opened.push(result);
      link = 'new';
      return result === 'new' ? whole() : gone();
    },
  };
  void world.submit(world.startProcess({ upstreams }), world.plan(plainScript));
  await world.time.pass(5000);
  assert.deepEqual(opened, ['old', 'new']);
  assert.deepEqual(
    [...world.store.rows.values()].map(({ task }) => task.phase),
    ['completed'],
  );
  world.time.clear();
});

test('a full disk never ends a task', async () => {
  const { world, task } = await finish(async () => whole(), {}, { giveUpMs: hourMs });
  assert.equal(task().phase, 'completed');
  world.storage.isFull = true;
  void world.submit(world.startProcess(), world.plan(plainScript));
  const second = (): VideoTask => [...world.store.rows.values()][1]?.task ?? assert.fail();
  await world.time.pass(3 * hourMs);
  assert.deepEqual([second().phase, second().alert?.reason], ['storing', 'the file could not be copied: no space left']);
  world.storage.isFull = false;
  await world.time.pass(5 * minuteMs);
  assert.deepEqual([second().phase, second().chargedNanoUsd], ['completed', 6000n]);
  world.time.clear();
});

test('a video without a reported length is measured, and charged by its requested length if that fails', async () => {
  const story = { ...plainScript, durationMs: undefined };
  for (const [measureMedia, durationMs, charged, estimated] of [
    [async () => 4321.4, 4321, 5321n, false],
    [async () => undefined, undefined, 9700n, true],
    [async () => Number.NaN, undefined, 9700n, true],
    [() => Promise.reject(new Error('no video')), undefined, 9700n, true],
    [() => new Promise<number>(() => {}), undefined, 9700n, true],
  ] as const) {
    const { world, task } = await finish(async () => whole(), { measureMedia }, {}, story);
    await world.time.pass(minuteMs);
    assert.deepEqual([task().phase, task().durationMs, task().chargedNanoUsd], ['completed', durationMs, charged]);
    assert.equal(world.store.ledger.get(task().callId)?.estimated, estimated);
    world.time.clear();
  }
});

test('B9: the reported length is charged up to the held one, and an implausible length is not', async () => {
  for (const [durationMs, charged] of [
    [8000, 9000n],
    [12_000, 9700n],
    [21_000_000, 9700n],
    [1, 1001n],
    [0, 9700n],
    [-5, 9700n],
    [1e12, 9700n],
  ] as const) {
    const { world, task } = await finish(async () => whole(), {}, {}, { ...plainScript, durationMs });
    await world.time.pass(minuteMs);
    assert.equal(task().chargedNanoUsd, charged);
    world.time.clear();
  }
});

test('eight copies run at a time, and no poll waits for them', async () => {
  const world = new SimulatedWorld(2);
  let [running, most] = [0, 0];
  const openResult: VideoUpstreams['openResult'] = async (_task, _result, signal) => {
    most = Math.max(most, (running += 1));
    await world.time.wait(40_000, signal);
    running -= 1;
    return whole();
  };
  const { ask, submitAgain } = world.upstreams;
  const process = world.startProcess({ upstreams: { ask, submitAgain, openResult } });
  for (let count = 0; count < 100; count++)
    void world.submit(process, world.plan({ ...plainScript, workMs: count % 2 === 0 ? 1000 : 90_000 }));
  await world.time.pass(80_000);
  for (const times of world.upstreams.asks.values())
    for (const [index, atMs] of times.entries()) assert.ok(index === 0 || atMs - (times[index - 1] ?? 0) <= 10_000);
  await world.time.pass(13 * 45_000);
  assert.equal(most, 8);
  assert.ok([...world.store.rows.values()].every(({ task }) => task.phase === 'completed'));
  assert.equal(world.storage.files.size, 100);
  world.time.clear();
});

test('five hundred videos that end together are stored as fast as files arrive, and a process whose copies hang holds few of them', async () => {
  const world = new SimulatedWorld(6);
  const { ask, submitAgain } = world.upstreams;
  let copies = 0;
  const openResult: VideoUpstreams['openResult'] = async (_task, _result, signal) => {
    copies += 1;
    await world.time.wait(20, signal);
    return whole();
  };
  const hanging: VideoUpstreams['openResult'] = () => new Promise(() => {});
  const well = world.startProcess({ upstreams: { ask, submitAgain, openResult } });
  const stuck = world.startProcess({ upstreams: { ask, submitAgain, openResult: hanging } });
  for (let count = 0; count < 500; count++) void world.submit(well, world.plan({ ...plainScript, queuedMs: 1000, workMs: 2000 }));
  // All are known to be finished within ten seconds, which leaves 2.5 ms for each file.
  await world.time.pass(13_000);
  const held = stuck.tasks.gauges().copying + stuck.tasks.gauges().copiesWaiting;
  assert.ok(held > 0 && held <= 40, `${held} are held by the process that hangs`);
  assert.equal([...world.store.rows.values()].filter(({ task }) => task.phase === 'completed').length, 500 - held);
  assert.equal(copies, 500 - held);
  world.time.clear();
});

test('a copy that another process took over leaves no file', async () => {
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
  const { world, task } = await finish(async (attempt) => {
    if (attempt === 1) await mayGoOn;
    return whole();
  });
  const row = world.store.rows.get(task().id);
  assert.ok(row);
  // Its lease was not renewed in time, because its process was blocked.
  Object.assign(row, { owner: 'another', leaseUntilMs: world.time.nowMs() + 1000 });
  goOn();
  await world.time.pass(500);
  assert.deepEqual([task().phase, world.storage.files.size, world.store.ledger.size], ['storing', 0, 0]);
  await world.time.pass(minuteMs);
  assert.deepEqual([task().phase, world.storage.files.size, world.store.ledger.size], ['completed', 1, 1]);
  world.time.clear();
});
