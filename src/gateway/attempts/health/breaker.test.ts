import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { answered, badKey, failed, limited, setUpHealth, unknown } from './testing/fake-health.ts';

/** A target with an outage after five failures. */
function setUpOut() {
  const setUp = setUpHealth();
  const target = setUp.of();
  for (let times = 0; times < 5; times += 1) setUp.attempt(target, failed);
  return { ...setUp, target };
}

describe('these failures begin an outage', () => {
  test('five failures in a row do, and four do not', () => {
    const { of, attempt, see } = setUpHealth();
    for (let times = 0; times < 4; times += 1) attempt(of(), failed);
    assert.equal(see(of()), 'healthy');
    attempt(of(), failed);
    assert.equal(see(of()), 'failing 5000');
  });

  test('only a success ends a streak', () => {
    const { of, attempt, see } = setUpHealth();
    for (let times = 0; times < 4; times += 1) attempt(of(), failed);
    attempt(of(), answered);
    for (let times = 0; times < 4; times += 1) attempt(of(), failed);
    assert.equal(see(of()), 'healthy');
    attempt(of(), unknown);
    attempt(of(), failed);
    assert.equal(see(of()), 'failing 5000', 'a client that leaves says nothing');
  });

  test('half of twenty attempts within half a minute do, in any order', () => {
    const { of, attempt, see } = setUpHealth();
    for (let pairs = 0; pairs < 9; pairs += 1) {
      attempt(of(), answered);
      attempt(of(), failed);
    }
    attempt(of(), answered);
    assert.equal(see(of()), 'healthy', 'nineteen attempts are too few to tell');
    attempt(of(), failed);
    assert.equal(see(of()), 'failing 5000');
  });

  test('fewer than half never do', () => {
    const { of, attempt, see, advance } = setUpHealth();
    for (let rounds = 0; rounds < 2000; rounds += 1) {
      for (const verdict of [answered, failed, answered, failed, answered]) attempt(of(), verdict);
      advance(77);
      assert.equal(see(of()), 'healthy');
    }
  });

  test('attempts older than half a minute do not count', () => {
    const { of, attempt, see, advance } = setUpHealth();
    for (let times = 0; times < 12; times += 1) attempt(of(), times % 4 === 0 ? answered : failed);
    advance(30_001);
    for (let times = 0; times < 8; times += 1) attempt(of(), times % 2 === 0 ? answered : failed);
    assert.equal(see(of()), 'healthy');
  });

  test('failures that take longer than the window still count', () => {
    const { of, lines, advance } = setUpHealth();
    const waiting: { end: (verdict: typeof failed) => void }[] = [];
    for (let seconds = 0; seconds < 200; seconds += 1) {
      // Every other attempt hangs for a minute, the others are answered at once.
      waiting.push(of().begin());
      of().begin().end(answered);
      if (seconds >= 60) waiting[seconds - 60]?.end(failed);
      advance(1000);
    }
    assert.ok(lines.includes('warn: upstream outage began'));
  });

  test('half of the attempts with a result do: disconnects of clients do not dilute them', () => {
    const { of, attempt, see } = setUpHealth();
    for (let pairs = 0; pairs < 10; pairs += 1) {
      attempt(of(), answered);
      for (let times = 0; times < 10; times += 1) attempt(of(), unknown);
      attempt(of(), failed);
    }
    assert.equal(see(of()), 'failing 5000');
  });

  test('failures of attempts older than a success are not a streak', () => {
    const { of, attempt, see } = setUpHealth();
    const older = Array.from({ length: 9 }, () => of().begin());
    attempt(of(), answered);
    for (const ticket of older) ticket.end(failed);
    assert.equal(see(of()), 'healthy');
  });

  test('streams that always fail after their first content do', () => {
    const { of, see } = setUpHealth();
    for (let times = 0; times < 5; times += 1) {
      const ticket = of().begin();
      ticket.headArrived();
      ticket.contentArrived();
      ticket.end(failed);
    }
    assert.equal(see(of()), 'failing 5000');
  });

  test('long streams that end well do not hide that no new call succeeds', () => {
    const { of, see, attempt } = setUpHealth();
    const streams = Array.from({ length: 10 }, () => of().begin());
    for (const stream of streams) stream.contentArrived();
    for (const stream of streams.slice(0, 5)) {
      attempt(of(), failed);
      stream.end(answered);
    }
    assert.equal(see(of()), 'failing 5000');
  });

  test('a few fast failures among many slow successes are not a streak', () => {
    const { of, see, attempt, advance } = setUpHealth();
    const slow = Array.from({ length: 10 }, () => of().begin());
    for (let seconds = 0; seconds < 300; seconds += 1) {
      slow.push(of().begin());
      slow.shift()?.end(answered);
      if (seconds % 4 === 0) attempt(of(), failed);
      advance(1000);
      assert.equal(see(of()), 'healthy');
    }
  });
});

describe('probes end an outage', () => {
  test('the outage doubles with each failed probe, up to thirty seconds', () => {
    const { target, advance, attempt, see } = setUpOut();
    for (const outMs of [5000, 10_000, 20_000, 30_000, 30_000, 30_000]) {
      assert.equal(see(target), `failing ${outMs}`);
      advance(outMs - 1);
      assert.equal(see(target), 'failing 1');
      advance(1);
      assert.equal(see(target), 'probe');
      attempt(target, failed);
    }
  });

  test('random varies each duration by a fifth at most', () => {
    for (const [chance, outMs] of [
      [0, 4000],
      [0.999_999, 6000],
    ] as const) {
      const { of, attempt, see } = setUpHealth({}, () => chance);
      for (let times = 0; times < 5; times += 1) attempt(of(), failed);
      assert.equal(see(of()), `failing ${outMs}`);
    }
  });

  test('one probe runs at a time; its success ends the outage, and nothing of the past counts', () => {
    const { target, advance, see, attempt, lines } = setUpOut();
    advance(5000);
    const probe = target.begin();
    assert.equal(probe.isProbe, true);
    assert.equal(see(target), 'failing 1000');
    probe.end(answered);
    assert.equal(see(target), 'healthy');
    for (let times = 0; times < 4; times += 1) attempt(target, failed);
    assert.equal(see(target), 'healthy');
    assert.deepEqual(lines, ['warn: upstream outage began', 'info: upstream outage ended']);
  });

  test('the first content of a stream ends the outage: its end may be minutes away', () => {
    const { target, advance, see } = setUpOut();
    advance(5000);
    const probe = target.begin();
    probe.headArrived();
    assert.equal(see(target), 'failing 1000', 'a head alone may be that of an error, or of a stream that stalls');
    probe.contentArrived();
    assert.equal(see(target), 'healthy');
    probe.end(failed);
    assert.equal(see(target), 'healthy');
  });

  test('a probe whose client disconnects decides nothing, and another may follow at once', () => {
    const { target, advance, see } = setUpOut();
    advance(5000);
    target.begin().end(unknown);
    assert.equal(see(target), 'probe');
  });

  test('a probe that hangs delays the next for half a minute, and its later failure is ignored', () => {
    const { target, advance, see } = setUpOut();
    advance(5000);
    const hanging = target.begin();
    advance(29_999);
    assert.equal(see(target), 'failing 1000');
    advance(1);
    assert.equal(see(target), 'probe');
    const second = target.begin();
    assert.ok(second.isProbe);
    hanging.end(failed);
    assert.equal(see(target), 'failing 1000', 'the second probe is still under way');
    second.end(answered);
    assert.equal(see(target), 'healthy');
  });

  test('a hanging probe that succeeds ends the outage', () => {
    const { target, advance, see } = setUpOut();
    advance(5000);
    const hanging = target.begin();
    advance(30_000);
    target.begin().end(failed);
    hanging.end(answered);
    assert.equal(see(target), 'healthy');
  });

  for (const [name, verdict] of [
    ['a rate limit', limited],
    ['a refused credential', badKey],
  ] as const) {
    test(`${name} shows that the upstream is alive`, () => {
      const { health, target, advance, attempt } = setUpOut();
      advance(5000);
      attempt(target, verdict);
      assert.deepEqual(
        health.report().map(({ state }) => state),
        [verdict === limited ? 'rate-limited' : 'rejected'],
      );
    });
  }

  test('attempts from before the failure neither lengthen the outage nor end it', () => {
    const { of, attempt, see } = setUpHealth();
    const before = Array.from({ length: 10 }, () => of().begin());
    for (let times = 0; times < 5; times += 1) attempt(of(), failed);
    for (const ticket of before) ticket.end(before.indexOf(ticket) % 2 === 0 ? answered : failed);
    assert.equal(see(of()), 'failing 5000');
  });

  test('attempts from before the recovery do not begin another outage when they time out', () => {
    const { target, advance, attempt, see, of } = setUpOut();
    const hanging = Array.from({ length: 50 }, () => of().begin());
    advance(5000);
    attempt(target, answered);
    for (const ticket of hanging) ticket.end(failed);
    assert.equal(see(target), 'healthy');
  });

  test('the failures that began an outage are forgotten at its end', () => {
    const { of, attempt, see, advance } = setUpHealth();
    for (let pairs = 0; pairs < 10; pairs += 1) {
      attempt(of(), answered);
      attempt(of(), failed);
    }
    advance(5000);
    attempt(of(), answered);
    attempt(of(), failed);
    assert.equal(see(of()), 'healthy');
  });

  test('a target that fails again within a minute is out for longer, and later starts from the first duration', () => {
    const { target, advance, attempt, see } = setUpOut();
    advance(5000);
    attempt(target, answered);
    for (let times = 0; times < 5; times += 1) attempt(target, failed);
    assert.equal(see(target), 'failing 10000');
    advance(10_000);
    attempt(target, answered);
    advance(60_001);
    for (let times = 0; times < 5; times += 1) attempt(target, failed);
    assert.equal(see(target), 'failing 5000');
  });
});
