import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { measureBest } from '../support/measure-best.ts';
import { type FaultBench, type Mode, startFaultProgram, streamModes } from './fault-bench.ts';
import { translatedModel, translating, translations } from './translated-models.ts';

/** The promise: an upstream whose client has disconnected stops within this time. */
const noticedWithinMs = 200;

type Leaving = { readonly title: string; readonly mode: Mode; readonly model?: string };
const leavings: readonly Leaving[] = [
  ...streamModes.map((mode) => ({ title: mode.title, mode })),
  ...translations.filter(({ mode }) => mode.stream).map(({ mode, to, title }) => ({ title, mode, model: translatedModel(to) })),
];

/** client-leaves and translated-books check the costs of such calls. */
describe('a client that disconnects is noticed at once', { timeout: 600_000, concurrency: 3 }, () => {
  let bench: FaultBench;
  before(async () => {
    bench = await startFaultProgram(translating);
    // The first calls load and compile code, which would distort the measurement.
    await bench.assertSound();
  });
  after(() => bench[Symbol.asyncDispose]());

  const open = ({ mode, model }: Leaving, steer: Readonly<Record<string, string>>) =>
    bench.open(mode, { steer, ...(model === undefined ? {} : { model }) });

  async function leaveStream(leaving: Leaving, how: 'fin' | 'rst' | 'half'): Promise<number> {
    const { tag, call } = open(leaving, { pace: 'tokensPerSecond=200;tokensPerFrame=4', 'output-tokens': '2000' });
    await call.until((text) => text.length > 1500);
    return leave(tag, call, how);
  }

  async function leaveBeforeHead(leaving: Leaving): Promise<number> {
    const { tag, call } = open(leaving, { fault: 'stall-before-headers' });
    while (!bench.simulator.records().some((record) => record.tag === tag)) await new Promise((resolve) => setTimeout(resolve, 5));
    return leave(tag, call, 'rst');
  }

  async function leave(tag: string, call: ReturnType<FaultBench['open']>['call'], how: 'fin' | 'rst' | 'half'): Promise<number> {
    const leftAtMs = Date.now();
    call.leave(how);
    const { ending, endedAtMs } = await bench.truthOf(tag);
    assert.equal(ending, 'client-closed');
    return (endedAtMs ?? Infinity) - leftAtMs;
  }

  const soon = async (measure: () => Promise<number>): Promise<void> => {
    const ms = await measureBest(measure, (taken) => taken <= noticedWithinMs);
    assert.ok(ms <= noticedWithinMs, `noticed after ${ms} ms`);
  };

  for (const leaving of leavings) {
    test(`${leaving.title}: the upstream stops after a disconnect in the middle of a stream`, async () => {
      for (const how of ['fin', 'rst', 'half'] as const) await soon(() => leaveStream(leaving, how));
    });
    test(`${leaving.title}: the upstream stops after a disconnect before the head`, () => soon(() => leaveBeforeHead(leaving)));
  }
});
