import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { type Admission, FairGate, type GateBounds } from './fair-gate.ts';

const roomy: GateBounds = { calls: 4, spareCalls: 0, bytes: 1000, waiting: 10, waitMs: 100 };
const stays = (): boolean => false;

function createBench(bounds: Partial<GateBounds> = {}) {
  let nowMs = 0;
  let wakeAtMs: number | undefined;
  const gate = new FairGate({
    nowMs: () => nowMs,
    wakeAfter: (ms) => {
      wakeAtMs = Math.min(wakeAtMs ?? Infinity, nowMs + ms);
    },
    bounds: { ...roomy, ...bounds },
  });
  const passMs = (ms: number): void => {
    const untilMs = nowMs + ms;
    while (wakeAtMs !== undefined && wakeAtMs <= untilMs) {
      nowMs = wakeAtMs;
      wakeAtMs = undefined;
      gate.expire();
    }
    nowMs = untilMs;
  };
  /** A call that must enter at once. */
  const enter = (tenant: string, bytes = 0): Admission => {
    const admitted = gate.admit(tenant, bytes, stays);
    assert.ok(admitted !== undefined && !(admitted instanceof Promise), `${tenant} was not let in at once`);
    return admitted;
  };
  /** A call that must wait, with its result. */
  const wait = (tenant: string, options: { readonly bytes?: number; readonly hasLeft?: () => boolean } = {}) => {
    const admitted = gate.admit(tenant, options.bytes ?? 0, options.hasLeft ?? stays);
    assert.ok(admitted instanceof Promise, `${tenant} did not wait`);
    const call: { state: 'waiting' | 'admitted' | 'refused'; admission?: Admission } = { state: 'waiting' };
    void admitted.then((admission) => {
      call.state = admission === undefined ? 'refused' : 'admitted';
      if (admission !== undefined) call.admission = admission;
    });
    return call;
  };
  return { gate, enter, wait, passMs, nowMs: () => nowMs };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a call that fits enters without a promise, and releases its place once', () => {
  const { gate, enter } = createBench();
  const first = enter('a', 10);
  first.release();
  first.release();
  first.releaseBytes();
  first.holdBytes(500);
  assert.deepEqual(gate.counts(), { inFlight: 0, waiting: 0, bytes: 0, tenants: 0, admitted: 1, refused: 0, delayed: 0 });
});

test('a full gate admits the next call when one ends', async () => {
  const { enter, wait } = createBench({ calls: 1 });
  const first = enter('a');
  const next = wait('a');
  first.release();
  await turn();
  assert.equal(next.state, 'admitted');
});

test('no call waits beyond its limit, and none is forgotten', async () => {
  const { gate, enter, wait, passMs } = createBench({ calls: 1 });
  enter('a');
  const early = wait('a');
  passMs(60);
  const late = wait('a');
  passMs(40);
  await turn();
  assert.deepEqual([early.state, late.state], ['refused', 'waiting']);
  passMs(60);
  await turn();
  assert.equal(late.state, 'refused');
  assert.equal(gate.counts().waiting, 0);
});

test('the next place goes to the tenant with the fewest running calls', async () => {
  const { enter, wait } = createBench({ calls: 3, spareCalls: 0 });
  enter('heavy');
  enter('heavy');
  const last = enter('heavy');
  const heavy = wait('heavy');
  const light = wait('light');
  last.release();
  await turn();
  assert.deepEqual([heavy.state, light.state], ['waiting', 'admitted']);
});

test('spare places are for tenants below their share', () => {
  const { gate, enter } = createBench({ calls: 10, spareCalls: 2, waiting: 0 });
  for (let call = 0; call < 10; call += 1) enter('heavy');
  assert.equal(gate.admit('heavy', 0, stays), undefined);
  enter('light');
  assert.equal(gate.admit('heavy', 0, stays), undefined);
  enter('light');
  assert.equal(gate.counts().inFlight, 12);
});

test('without room to wait, the tenant with the most calls loses its last', async () => {
  const { gate, enter, wait } = createBench({ calls: 2, waiting: 2 });
  enter('heavy');
  enter('heavy');
  const first = wait('heavy');
  const second = wait('heavy');
  const light = wait('light');
  const other = wait('other');
  assert.equal(gate.admit('heavy', 0, stays), undefined);
  await turn();
  assert.deepEqual([first.state, second.state, light.state, other.state], ['waiting', 'waiting', 'waiting', 'waiting']);
});

test('many tenants have bounded room to wait, and a flooding tenant leaves it first', async () => {
  const { gate, enter, wait } = createBench({ calls: 1000, waiting: 1000, spareCalls: 0 });
  for (let call = 0; call < 1000; call += 1) enter('flood');
  const flood = Array.from({ length: 256 }, () => wait('flood'));
  assert.equal(gate.admit('flood', 0, stays), undefined);
  const light = wait('light');
  await turn();
  assert.equal(light.state, 'waiting');
  assert.equal(flood.at(-1)?.state, 'refused');
  assert.equal(flood.filter(({ state }) => state === 'waiting').length, 255);
  assert.equal(gate.counts().waiting, 256);
});

test('a client that disconnected takes no place', async () => {
  const { gate, enter, wait } = createBench({ calls: 1 });
  const first = enter('a');
  const left = wait('a', { hasLeft: () => true });
  const next = wait('a');
  first.release();
  await turn();
  assert.deepEqual([left.state, next.state], ['refused', 'admitted']);
  assert.equal(gate.counts().inFlight, 1);
});

test('bodies stay within their bytes, and a single larger one is accepted', async () => {
  const { gate, enter, wait } = createBench({ bytes: 100 });
  const large = enter('a', 5000);
  const small = wait('b', { bytes: 1 });
  large.holdBytes(60);
  await turn();
  assert.equal(small.state, 'admitted');
  const next = wait('c', { bytes: 40 });
  large.releaseBytes();
  large.releaseBytes();
  await turn();
  assert.equal(next.state, 'admitted');
  assert.equal(gate.counts().bytes, 41);
});

test('tenants without calls are forgotten', () => {
  const { gate, enter } = createBench();
  for (let tenant = 0; tenant < 5000; tenant += 1) enter(`tenant ${tenant}`).release();
  assert.equal(gate.counts().tenants, 0);
  enter('tenant 1');
  assert.equal(gate.counts().tenants, 1);
});

type Step =
  | { readonly type: 'arrive'; readonly tenant: number; readonly bytes: number; readonly leaves: boolean }
  | { readonly type: 'end'; readonly which: number }
  | { readonly type: 'pass'; readonly ms: number }
  | { readonly type: 'limit'; readonly calls: number };

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('arrive' as const),
        tenant: fc.nat(5),
        bytes: fc.nat(60),
        leaves: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      }),
    },
    { weight: 4, arbitrary: fc.record({ type: fc.constant('end' as const), which: fc.nat(1000) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 150 }) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('limit' as const), calls: fc.integer({ min: 1, max: 12 }) }) },
  ),
  { maxLength: 200 },
);

/** A gate, and its state as seen from outside. */
class Model {
  readonly bench = createBench({ calls: 5, spareCalls: 1, bytes: 200, waiting: 3 });
  readonly underWay: { readonly tenant: string; readonly admission: Admission }[] = [];
  readonly waiting = new Set<{ readonly tenant: string; readonly sinceMs: number; readonly leaves: boolean }>();
  arrived = 0;
  refused = 0;

  of(tenant: string): number {
    return this.underWay.filter((call) => call.tenant === tenant).length;
  }

  async run(step: Step): Promise<void> {
    if (step.type === 'arrive') this.#arrive(`t${step.tenant}`, step.bytes, step.leaves);
    if (step.type === 'end') this.underWay.splice(step.which % Math.max(1, this.underWay.length), 1)[0]?.admission.release();
    if (step.type === 'pass') this.bench.passMs(step.ms);
    if (step.type === 'limit') this.bench.gate.setBounds({ ...roomy, calls: step.calls, spareCalls: 1, bytes: 200, waiting: 3 });
    await turn();
  }

  #arrive(tenant: string, bytes: number, leaves: boolean): void {
    this.arrived += 1;
    const admitted = this.bench.gate.admit(tenant, bytes, () => leaves);
    if (!(admitted instanceof Promise)) return this.#settled(tenant, admitted);
    const waiter = { tenant, sinceMs: this.bench.nowMs(), leaves };
    this.waiting.add(waiter);
    void admitted.then((admission) => {
      this.waiting.delete(waiter);
      assert.ok(this.bench.nowMs() - waiter.sinceMs <= 150 + roomy.waitMs, 'answered within the bound');
      if (leaves) assert.equal(admission, undefined, 'who left takes no place');
      this.#settled(tenant, admission);
    });
  }

  #settled(tenant: string, admission: Admission | undefined): void {
    if (admission === undefined) {
      this.refused += 1;
      return;
    }
    for (const other of this.waiting) {
      // The same step may have admitted others as well, whose promises are answered after it.
      if (!other.leaves) this.later.push({ admitted: this.of(tenant), tenant, other });
    }
    this.underWay.push({ tenant, admission });
  }

  readonly later: { readonly admitted: number; readonly tenant: string; readonly other: { readonly tenant: string } }[] = [];

  check(): void {
    const counts = this.bench.gate.counts();
    assert.equal(counts.inFlight, this.underWay.length);
    assert.equal(counts.waiting, this.waiting.size);
    assert.equal(counts.refused, this.refused);
    assert.equal(this.arrived, counts.admitted + counts.refused + counts.waiting);
    for (const { admitted, other } of this.later.splice(0)) {
      if (!this.waiting.has(other as never)) continue;
      assert.ok(this.of(other.tenant) >= admitted, 'nobody enters before a tenant with fewer calls under way');
    }
  }
}

test('in any order of events counts add up, no tenant with more calls goes first, and every call is answered in time', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (run) => {
      const model = new Model();
      for (const step of run) {
        await model.run(step);
        model.check();
      }
      model.bench.passMs(roomy.waitMs);
      await turn();
      assert.equal(model.waiting.size, 0, 'nobody waits for ever');
      for (const { admission } of model.underWay.splice(0)) admission.release();
      assert.deepEqual(
        { ...model.bench.gate.counts(), admitted: 0, refused: 0, delayed: 0 },
        {
          inFlight: 0,
          waiting: 0,
          bytes: 0,
          tenants: 0,
          admitted: 0,
          refused: 0,
          delayed: 0,
        },
      );
    }),
    { numRuns: 300 },
  );
});
