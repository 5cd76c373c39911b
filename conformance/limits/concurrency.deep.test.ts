import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { allModes, type Mode, streamModes, wholeModes } from '../faults/fault-bench.ts';
import { eventually } from '../support/http.ts';
import { by, type LimitsBench, nameOf, startLimitsBench } from './limits-bench.ts';

/** A model of a vendor with another interface: its calls are translated. */
const foreignModel = ({ api }: Mode): string => (api.dialect === 'anthropic-messages' ? 'gpt-4.1' : 'claude-sonnet-4-5');

const slow = { pace: 'tokensPerSecond=20;tokensPerFrame=1', 'output-tokens': '2000' };
/**
 * The time-out of a silent upstream. It must be long enough that a machine that stalls for seconds does not trigger it.
 */
const timeouts = { idleMs: 8000, firstByteMs: 12_000 };
/** Well before the stream would have ended by itself. */
const freeWithinMs = 8000;
/** Well before the end of a stream of 2,000 tokens. */
const streamFreeWithinMs = 20_000;

/**
 * A slot is occupied while a call runs and released when it ends, however it ends, on every interface, passed through
 * and translated. Most of the time is waiting, so all calls wait at the same time.
 */
describe('concurrency', { concurrency: 48 }, () => {
  let bench: LimitsBench;
  before(async () => {
    bench = await startLimitsBench({ timeouts });
  });
  after(() => bench[Symbol.asyncDispose]());

  const becomesFree = (mode: Mode, key: string, model: string, withinMs: number): Promise<number> =>
    eventually(
      async () => (await bench.send(mode, { ...by(key), model })).status,
      (status) => status === 200,
      withinMs,
    );
  const isTaken = async (mode: Mode, key: string, model: string): Promise<void> => {
    const { status, text, headers } = await bench.send(mode, { ...by(key), model });
    assert.equal(status, 429, text);
    assert.match(text, /1 requests at a time/);
    assert.equal(headers['retry-after'], '1');
  };

  for (const way of ['passed through', 'translated'] as const) {
    const modelOf = (mode: Mode): string => (way === 'translated' ? foreignModel(mode) : mode.api.model);

    for (const mode of streamModes) {
      test(`${mode.title}, ${way}: the slot is occupied during the stream and released when its client disconnects`, async () => {
        const key = await bench.createKey(`leaves ${way} ${nameOf(mode)}`, { concurrency: '1' });
        const model = modelOf(mode);
        for (const how of ['rst', 'fin'] as const) {
          const { call } = bench.open(mode, { ...by(key), model, steer: slow });
          await call.until((text) => text.length > 200);
          await isTaken(mode, key, model);
          call.leave(how);
          await becomesFree(mode, key, model, streamFreeWithinMs);
        }
      });

      test(`${mode.title}, ${way}: the slot is released when the stream breaks or stalls`, async () => {
        const key = await bench.createKey(`breaks ${way} ${nameOf(mode)}`, { concurrency: '1' });
        for (const fault of ['reset-mid-stream', 'truncate', 'error-event', 'stall-mid-stream;ms=60000']) {
          // Slow enough that the stream reaches its client before it breaks.
          const steer = { fault, pace: 'tokensPerSecond=100;tokensPerFrame=4', 'output-tokens': '60' };
          const broken = await bench.send(mode, { ...by(key), model: modelOf(mode), steer });
          assert.equal(broken.status, 200, `${fault}: ${broken.text}`);
          assert.equal((await bench.send(mode, { ...by(key), model: modelOf(mode) })).status, 200, `released after ${fault}`);
        }
      });
    }

    for (const mode of allModes) {
      test(`${mode.title}, ${way}: the slot is released when there is no reply`, async () => {
        const key = await bench.createKey(`fails ${way} ${nameOf(mode)}`, { concurrency: '1' });
        for (const fault of ['refuse', 'reset-before-headers', 'status;status=500', 'html', 'stall-before-headers;ms=60000']) {
          const failed = await bench.send(mode, { ...by(key), model: modelOf(mode), steer: { fault } });
          assert.ok(failed.status >= 500, `${fault}: ${failed.status} ${failed.text}`);
          assert.equal((await bench.send(mode, { ...by(key), model: modelOf(mode) })).status, 200, `released after ${fault}`);
        }
      });
    }

    for (const mode of wholeModes) {
      test(`${mode.title}, ${way}: the slot is released when the client disconnects before the reply`, async () => {
        const key = await bench.createKey(`early ${way} ${nameOf(mode)}`, { concurrency: '1' });
        const model = modelOf(mode);
        const { tag, call } = bench.open(mode, { ...by(key), model, steer: { fault: 'stall-before-headers;ms=60000' } });
        await eventually(
          () => bench.simulator.records().some((record) => record.tag === tag),
          (arrived) => arrived,
        );
        await isTaken(mode, key, model);
        call.leave('rst');
        await becomesFree(mode, key, model, freeWithinMs);
      });
    }
  }
});
