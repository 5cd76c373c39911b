import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';

import fc from 'fast-check';

import { createLimiter, type LimitedSubject, type Reservation } from '../../../gateway/admission/limits/limiter.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { createChannelPair } from './testing/fake-channels.ts';
import { createIpc } from './ipc.ts';
import type { PrimaryTopics } from './protocol.ts';
import { createSharedLimiter } from './shared-limiter.ts';
import { createWorkerReservations } from './worker-reservations.ts';

type Nothing = Record<never, never>;
type Limited = Pick<PrimaryTopics, 'reserve' | 'end-reservation' | 'limit-use'>;

/** A limiter and its workers, each with its own channel. */
function setUp(workers: number, clock = { monotonicMs: () => 0 }) {
  const limiter = createLimiter({ clock });
  return {
    limiter,
    workers: Array.from({ length: workers }, () => {
      const { ends, cut } = createChannelPair();
      const reservations = createWorkerReservations({ limiter });
      createIpc<Nothing, Limited>({
        channel: ends[1],
        onFailure: (topic, error) => assert.fail(`${topic}: ${String(error)}`),
        handlers: { reserve: reservations.reserve, 'end-reservation': reservations.end, 'limit-use': limiter.use },
      });
      const primary = createIpc<PrimaryTopics, Nothing>({ channel: ends[0], onFailure: () => {}, handlers: {} });
      const die = (): void => {
        cut();
        primary.end();
        reservations.endAll();
      };
      return { limiter: createSharedLimiter({ primary }), cut, die };
    }),
  };
}

const key = (limits: LimitedSubject['limits']): LimitedSubject => ({ scope: 'key', id: 'k', limits });
/** Delivers all pending messages and their answers. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('limits across workers', () => {
  // No process counts as dead for being slow, unless a test says so.
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  test('no limit is exceeded and free slots are usable, whatever workers do and whenever they die', async () => {
    const step = fc.record({
      worker: fc.nat(2),
      tokens: fc.integer({ min: 1, max: 40 }),
      end: fc.constantFrom('settle', 'release', 'finish', 'hold', 'die'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const concurrency = 5;
        const requestsPerMinute = 25;
        const subject = key({ concurrency, requestsPerMinute });
        const { limiter, workers } = setUp(3);
        const running = [0, 0, 0];
        const dead = new Set<number>();
        let counted = 0;
        await Promise.all(
          steps.map(async ({ worker, tokens, end }) => {
            const own = workers[worker];
            assert.ok(own);
            const taken = await Promise.resolve(own.limiter.reserve([subject], tokens)).catch(() => undefined);
            if (taken?.admitted !== true || dead.has(worker)) return;
            running[worker] = (running[worker] ?? 0) + 1;
            counted += 1;
            const together = running.reduce((sum, count) => sum + count, 0);
            assert.ok(together <= concurrency, `${together} at a time`);
            assert.ok(counted <= requestsPerMinute, `${counted} in a minute`);
            await new Promise((resolve) => setImmediate(resolve));
            if (end === 'hold' || dead.has(worker)) return;
            if (end === 'die') {
              dead.add(worker);
              running[worker] = 0;
              return own.die();
            }
            running[worker] = (running[worker] ?? 0) - 1;
            if (end === 'release') counted -= 1;
            if (end === 'settle') taken.settle(tokens);
            else if (end === 'release') taken.release();
            else taken.finish();
          }),
        );
        for (const each of workers) each.die();
        // All slots are free again; used tokens still count.
        const last = limiter.reserve([subject], 1);
        assert.ok(last.admitted || last.of === 'requests', 'no slot is lost');
      }),
      { numRuns: 60 },
    );
  });

  test('the slots of a dead worker are released, and its usage still counts', async () => {
    const { limiter, workers } = setUp(2);
    const [first, second] = workers;
    assert.ok(first !== undefined && second !== undefined);
    const subject = key({ concurrency: 2, requestsPerMinute: 3 });
    assert.ok((await first.limiter.reserve([subject], 1)).admitted);
    assert.ok((await first.limiter.reserve([subject], 1)).admitted);
    assert.equal((await second.limiter.reserve([subject], 1)).admitted, false);
    first.die();
    assert.ok((await second.limiter.reserve([subject], 1)).admitted);
    const refused = await second.limiter.reserve([subject], 1);
    assert.ok(!refused.admitted && refused.of === 'requests');
    assert.equal(limiter.size(), 1);
  });

  test('an endless wait is transmitted', async () => {
    const { workers } = setUp(1);
    const refused = await workers[0]?.limiter.reserve([key({ tokensPerMinute: 10 })], 11);
    assert.ok(refused?.admitted === false && refused.waitMs === Infinity);
  });

  test('without an answer a limited call is refused as 503, and a late grant is released', async () => {
    const { ends } = createChannelPair();
    const limiter = createLimiter({ clock: { monotonicMs: () => 0 } });
    const reservations = createWorkerReservations({ limiter });
    const held: (() => void)[] = [];
    // A primary whose answers the test controls.
    createIpc<Nothing, Limited>({
      channel: ends[1],
      onFailure: () => {},
      handlers: {
        reserve: (asked) => {
          const answer = reservations.reserve(asked);
          return new Promise((resolve) => held.push(() => resolve(answer)));
        },
        'end-reservation': reservations.end,
        'limit-use': limiter.use,
      },
    });
    const shared = createSharedLimiter({
      primary: createIpc<PrimaryTopics, Nothing>({ channel: ends[0], onFailure: () => {}, handlers: {} }),
    });
    const subject = key({ concurrency: 1, requestsPerMinute: 1 });
    const asking = Promise.resolve(shared.reserve([subject], 1));
    await settle();
    assert.equal(held.length, 1);
    mock.timers.tick(1000);
    await assert.rejects(asking, (error) => error instanceof GatewayError && error.code === 'accounts_unavailable');
    for (const answer of held) answer();
    await settle();
    const free = limiter.reserve([subject], 1);
    assert.ok(free.admitted, 'nothing is left taken');
  });

  test('every worker sees what all together use', async () => {
    const { workers } = setUp(2);
    const subject = key({ requestsPerMinute: 9 });
    await workers[0]?.limiter.reserve([subject], 50);
    const seen = await workers[1]?.limiter.use([
      { scope: 'key', id: 'k' },
      { scope: 'user', id: 'k' },
    ]);
    assert.deepEqual(seen, [
      { requests: 1, tokens: 50, concurrency: 1, requestsFreeInMs: 60_000, tokensFreeInMs: 60_000 },
      { requests: 0, tokens: 0, concurrency: 0 },
    ]);
  });

  test('a reservation ends once', async () => {
    const { limiter, workers } = setUp(1);
    const subject = key({ concurrency: 2, tokensPerMinute: 100 });
    const taken = (await workers[0]?.limiter.reserve([subject], 50)) as Reservation;
    taken.settle(10);
    taken.release();
    taken.finish();
    await settle();
    const next = limiter.reserve([subject], 90);
    assert.ok(next.admitted, '10 of 100 are used');
  });
});
