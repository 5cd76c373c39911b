import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { answered, badKey, badModel, failed, limited, setUpHealth, subject, unknown } from './testing/fake-health.ts';

const named = (retryAfterMs: number) => ({ type: 'rate-limited', retryAfterMs }) as const;

describe('rate limits cool a target down', () => {
  test('they cool only the model that met one, at that upstream, with that credential', () => {
    const { of, attempt, see } = setUpHealth();
    attempt(of(), limited);
    assert.equal(see(of()), 'rate-limited 2000');
    for (const other of [of('other'), of('m', 'other'), of('m', 'c', 'other')]) assert.equal(see(other), 'healthy');
  });

  test('they are never a failure, however many there are', () => {
    const { of, attempt, see, advance } = setUpHealth();
    for (let times = 0; times < 100; times += 1) attempt(of(), limited);
    advance(60_000);
    assert.equal(see(of()), 'healthy');
    for (let times = 0; times < 4; times += 1) attempt(of(), failed);
    assert.equal(see(of()), 'healthy');
  });

  test('without a time, each further one doubles the cool-down, up to half a minute', () => {
    const { of, attempt, see, advance } = setUpHealth();
    for (const coolMs of [2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      attempt(of(), limited);
      assert.equal(see(of()), `rate-limited ${coolMs}`);
      advance(coolMs);
      assert.equal(see(of()), 'healthy');
    }
  });

  test('a burst of concurrent calls meets one limit', () => {
    const { of, see } = setUpHealth();
    for (const ticket of Array.from({ length: 100 }, () => of().begin())) ticket.end(limited);
    assert.equal(see(of()), 'rate-limited 2000');
  });

  for (const [said, heard] of [
    [0, 1000],
    [999, 1000],
    [7000, 7000],
    [3_600_000, 60_000],
    [Infinity, 60_000],
  ] as const) {
    test(`a time of ${said} ms from a vendor is bounded to ${heard} ms`, () => {
      const { of, attempt, see } = setUpHealth();
      attempt(of(), named(said));
      assert.equal(see(of()), `rate-limited ${heard}`);
    });
  }

  test('a shorter time does not shorten a longer one', () => {
    const { of, attempt, see } = setUpHealth();
    attempt(of(), named(20_000));
    attempt(of(), named(1000));
    attempt(of(), limited);
    assert.equal(see(of()), 'rate-limited 20000');
  });

  test('they end when a call that was sent later is answered, not one sent before', () => {
    const { of, attempt, see } = setUpHealth();
    const before = of().begin();
    attempt(of(), named(20_000));
    before.end(answered);
    assert.equal(see(of()), 'rate-limited 20000');
    attempt(of(), answered);
    assert.equal(see(of()), 'healthy');
    attempt(of(), limited);
    assert.equal(see(of()), 'rate-limited 2000', 'and the doubling begins anew');
  });
});

describe('a rejected credential is avoided', () => {
  test('it is out for all models at once, and others are not', () => {
    const { of, attempt, see } = setUpHealth();
    of('never called');
    attempt(of(), badKey);
    assert.deepEqual([see(of()), see(of('never called')), see(of('new'))], ['rejected 30000', 'rejected 30000', 'rejected 30000']);
    assert.deepEqual([see(of('m', 'renewed')), see(of('m', 'c', 'elsewhere'))], ['healthy', 'healthy']);
  });

  test('it is logged once, not per call, and once when it works again', () => {
    const { of, attempt, lines, advance } = setUpHealth();
    const together = Array.from({ length: 20 }, () => of().begin());
    for (const ticket of together) ticket.end(badKey);
    advance(30_000);
    attempt(of(), badKey);
    advance(30_000);
    attempt(of('other'), answered);
    assert.deepEqual(lines, ['error: upstream credential rejected', 'info: upstream credential accepted again']);
  });

  test('one call of all models probes it every half minute', () => {
    const { of, see, advance } = setUpHealth();
    of().begin().end(badKey);
    for (let times = 0; times < 5; times += 1) {
      advance(29_999);
      assert.equal(see(of('other')), 'rejected 1');
      advance(1);
      assert.equal(see(of('other')), 'probe');
      const probe = of('other').begin();
      assert.ok(probe.isProbe);
      assert.equal(see(of()), 'rejected 1000');
      probe.end([badKey, failed, limited, badModel][times] ?? badKey);
    }
  });

  test('it works again for all models after one answered call; late refusals of old calls change nothing', () => {
    const { of, see, advance, attempt } = setUpHealth();
    const old = of().begin();
    attempt(of(), badKey);
    advance(30_000);
    attempt(of('other'), answered);
    old.end(badKey);
    assert.deepEqual([see(of()), see(of('other'))], ['healthy', 'healthy']);
  });
});

describe('a rejected model is avoided', () => {
  test('it is out after three refusals in a row: a single one may depend on the request', () => {
    const { of, attempt, see } = setUpHealth();
    attempt(of(), badModel);
    attempt(of(), badModel);
    attempt(of(), answered);
    attempt(of(), badModel);
    attempt(of(), badModel);
    assert.equal(see(of()), 'healthy');
    attempt(of(), badModel);
    assert.deepEqual([see(of()), see(of('other'))], ['rejected 30000', 'healthy']);
  });

  test('it is probed every half minute and recovers', () => {
    const { of, attempt, see, advance, lines } = setUpHealth();
    for (let times = 0; times < 3; times += 1) attempt(of(), badModel);
    advance(30_000);
    assert.equal(see(of()), 'probe');
    attempt(of(), answered);
    assert.equal(see(of()), 'healthy');
    assert.deepEqual(
      lines.map((line) => line.split(':')[0]),
      ['error', 'info'],
    );
  });
});

describe('several problems overlap', () => {
  test('the longest one is reported, and a probe waits for all of them', () => {
    const { of, attempt, see, advance } = setUpHealth();
    const tickets = Array.from({ length: 5 }, () => of().begin());
    attempt(of(), named(10_000));
    for (const ticket of tickets) ticket.end(failed);
    assert.equal(see(of()), 'rate-limited 10000');
    attempt(of('other'), badKey);
    assert.equal(see(of()), 'rejected 30000');
    advance(29_999);
    assert.equal(see(of()), 'rejected 1');
    advance(1);
    attempt(of(), answered);
    assert.deepEqual([see(of()), see(of('other'))], ['healthy', 'healthy']);
  });
});

describe('a target with an outage is still called if there is no other', () => {
  test('the first success ends its outage, however many calls fail before', () => {
    const { of, attempt, see, lines } = setUpHealth();
    for (let times = 0; times < 1000; times += 1) attempt(of(), failed);
    assert.equal(see(of()), 'failing 30000');
    attempt(of(), answered);
    assert.equal(see(of()), 'healthy');
    assert.equal(lines.length, 2, 'and nothing is logged per call');
  });

  test('another call may become the probe after five seconds without a result', () => {
    const { of, attempt, advance, see } = setUpHealth();
    for (let times = 0; times < 5; times += 1) attempt(of(), failed);
    const hanging = of().begin();
    advance(4999);
    assert.ok(!of().begin().isProbe);
    advance(1);
    const second = of().begin();
    assert.ok(hanging.isProbe && second.isProbe);
    second.end(answered);
    assert.equal(see(of()), 'healthy');
  });

  test('nothing about avoidance is logged if the operator disables it', () => {
    const { of, attempt, lines } = setUpHealth({}, undefined, () => false);
    for (let times = 0; times < 20; times += 1) attempt(of(), failed);
    attempt(of(), answered);
    assert.deepEqual(lines, []);
  });
});

describe('memory is bounded', () => {
  test('a target without use for a minute is forgotten as others are called, with its credential and its upstream', () => {
    const { health, of, attempt, advance } = setUpHealth();
    for (let index = 0; index < 100; index += 1) attempt(of(`model ${index}`, `c${index}`, `u${index}`), answered);
    assert.equal(health.report().length, 100);
    advance(60_000);
    for (let times = 0; times < 200; times += 1) attempt(of(), answered);
    assert.deepEqual(
      health.report().map(({ upstreamModel }) => upstreamModel),
      ['m'],
    );
  });

  test('at most the configured number is remembered, others are healthy, and none with an outage or in use is forgotten', () => {
    const { health, of, attempt, see } = setUpHealth({ targetsMax: 50 });
    const busy = of('busy').begin();
    for (let times = 0; times < 5; times += 1) attempt(of('out'), failed);
    attempt(of('cooling'), limited);
    for (let index = 0; index < 10_000; index += 1) attempt(of(`name ${index}`), index % 2 === 0 ? answered : unknown);
    assert.equal(health.report().length, 50);
    assert.deepEqual([see(of('out')), see(of('cooling')), of('busy').inFlight()], ['failing 5000', 'rate-limited 2000', 1]);
    busy.end(answered);
    for (let index = 0; index < 200; index += 1) for (let times = 0; times < 5; times += 1) attempt(of(`bad ${index}`), failed);
    assert.equal(health.report().length, 50);
    assert.equal(see(of('one more')), 'healthy');
    of('one more').begin().end(failed);
  });

  test('a target with an outage is remembered for ten minutes without a call', () => {
    const { of, attempt, advance, see } = setUpHealth();
    for (let times = 0; times < 5; times += 1) attempt(of('out'), failed);
    for (let minutes = 0; minutes < 9; minutes += 1) {
      advance(60_000);
      for (let times = 0; times < 10; times += 1) attempt(of(), answered);
    }
    assert.equal(see(of('out')), 'probe');
    advance(60_000);
    for (let times = 0; times < 10; times += 1) attempt(of(), answered);
    assert.equal(see(of('out')), 'healthy');
  });

  test('names of clients do not collide with members of objects', () => {
    const { of, attempt, health } = setUpHealth();
    for (const name of ['__proto__', 'constructor', '', 'x'.repeat(5000)]) attempt(of(name, name, name), answered);
    assert.equal(health.report().length, 4);
  });
});

test('the report shows the state of each target', () => {
  const { health, of, attempt } = setUpHealth();
  of('busy').begin();
  for (let times = 0; times < 5; times += 1) attempt(of('dead'), failed);
  attempt(of('full'), limited);
  attempt(of('m', 'old key'), badKey);
  const common = { upstreamId: 'u', credentialId: 'c', inFlight: 0, consecutiveFailures: 0, hasAnswered: false };
  assert.deepEqual(health.report(), [
    { ...common, upstreamModel: 'busy', inFlight: 1, state: 'healthy' },
    { ...common, upstreamModel: 'dead', consecutiveFailures: 5, state: 'failing', againInMs: 5000 },
    { ...common, upstreamModel: 'full', state: 'rate-limited', againInMs: 2000 },
    { ...common, upstreamModel: 'm', credentialId: 'old key', state: 'rejected', againInMs: 30_000 },
  ]);
});

test('the report distinguishes a target that has answered from one that nobody has used', () => {
  const { health, of, attempt } = setUpHealth();
  of().begin();
  assert.equal(health.report()[0]?.hasAnswered, false);
  attempt(of(), failed);
  assert.equal(health.report()[0]?.hasAnswered, false);
  attempt(of(), answered);
  assert.equal(health.report()[0]?.hasAnswered, true);
});

test('a ticket counts once', () => {
  const { health, of, see } = setUpHealth();
  const ticket = of().begin();
  for (let times = 0; times < 9; times += 1) ticket.end(failed);
  ticket.headArrived();
  ticket.contentArrived();
  assert.equal(of().inFlight(), 0);
  assert.deepEqual([see(of()), health.of(subject()).inFlight(), health.report()[0]?.consecutiveFailures], ['healthy', 0, 1]);
});
