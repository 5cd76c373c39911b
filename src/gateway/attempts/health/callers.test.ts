import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { digestRequest } from './attempt.ts';
import { answered, badModel, failed, setUpHealth, silent, unreachable } from './testing/fake-health.ts';
import type { HealthQuery, AttemptVerdict } from './health.ts';

let calls = 0;
/** A call of a caller, with a request of its own by default. */
const callOf = (caller: string, request = `request ${(calls += 1)}`): HealthQuery => ({ caller, digest: () => request, countedAt: [] });

/** Lets this many calls fail. */
function failTimes(setUp: ReturnType<typeof setUpHealth>, times: number, caller: string, verdict: AttemptVerdict = failed): void {
  for (let done = 0; done < times; done += 1) setUp.attempt(setUp.of(), verdict, callOf(caller));
}

describe('one caller never takes a model from another', () => {
  for (const [name, verdict, state] of [
    ['requests that make it fail', failed, 'failing'],
    ['requests that it never answers', silent, 'failing'],
    ['requests that it refuses', badModel, 'rejected'],
  ] as const) {
    test(`${name}, a thousand of them: the target is out for their caller only`, () => {
      const setUp = setUpHealth();
      failTimes(setUp, 1000, 'poisoner', verdict);
      assert.match(setUp.see(setUp.of(), 'poisoner'), new RegExp(`^${state}`));
      assert.equal(setUp.see(setUp.of(), 'other'), 'healthy');
    });
  }

  test('the same holds between successful calls of others, at any share', () => {
    const setUp = setUpHealth();
    const { of, see, attempt, advance } = setUp;
    for (let rounds = 0; rounds < 500; rounds += 1) {
      failTimes(setUp, 4, 'poisoner');
      attempt(of(), answered, callOf('other'));
      assert.equal(see(of(), 'other'), 'healthy');
      advance(50);
    }
  });

  test('the first answered call of another caller also ends the outage', () => {
    const setUp = setUpHealth();
    failTimes(setUp, 5, 'poisoner');
    setUp.attempt(setUp.of(), answered, callOf('other'));
    assert.equal(setUp.see(setUp.of(), 'poisoner'), 'healthy');
  });

  test('a call of another caller is not a probe and delays nobody', () => {
    const setUp = setUpHealth();
    failTimes(setUp, 5, 'poisoner');
    setUp.advance(5000);
    assert.equal(setUp.of().begin(callOf('other')).isProbe, false);
    assert.equal(setUp.see(setUp.of(), 'poisoner'), 'probe');
  });
});

describe('some failures concern all callers', () => {
  test('five failures in a row of two callers, of which none has more than three, do', () => {
    const setUp = setUpHealth();
    failTimes(setUp, 3, 'first');
    failTimes(setUp, 1, 'second');
    assert.equal(setUp.see(setUp.of(), 'third'), 'healthy');
    failTimes(setUp, 1, 'second');
    assert.match(setUp.see(setUp.of(), 'third'), /^failing/);
  });

  test('failures to connect do, regardless of the caller: no request can cause them', () => {
    const setUp = setUpHealth();
    failTimes(setUp, 5, 'only', unreachable);
    assert.match(setUp.see(setUp.of(), 'other'), /^failing/);
  });

  test('more than half of the attempts of several callers do, even without five in a row', () => {
    const setUp = setUpHealth();
    const seen: string[] = [];
    for (let rounds = 0; rounds < 5; rounds += 1) {
      for (const caller of ['first', 'second']) {
        setUp.attempt(setUp.of(), answered, callOf(caller));
        failTimes(setUp, 2, caller);
        seen.push(setUp.see(setUp.of(), 'third').replace(/ .*/, ''));
      }
    }
    assert.deepEqual([...new Set(seen)], ['healthy', 'failing']);
  });
});

describe('some failures count once', () => {
  test('the attempts of one call count once', () => {
    const setUp = setUpHealth();
    for (let number = 0; number < 4; number += 1) {
      const call = callOf('only');
      for (let attempts = 0; attempts < 3; attempts += 1) setUp.attempt(setUp.of(), failed, call);
    }
    assert.equal(setUp.see(setUp.of(), 'only'), 'healthy');
    failTimes(setUp, 1, 'only');
    assert.match(setUp.see(setUp.of(), 'only'), /^failing/);
  });

  test('repeated requests of a caller count once; further attempts of them are soon not worth making', () => {
    const setUp = setUpHealth();
    for (let times = 0; times < 100; times += 1) {
      assert.equal(setUp.of().isWorthRetry('only'), times < 5, String(times));
      setUp.attempt(setUp.of(), failed, callOf('only', 'the same'));
    }
    assert.equal(setUp.see(setUp.of(), 'only'), 'healthy');
    assert.ok(setUp.of().isWorthRetry('other'));
    setUp.attempt(setUp.of(), answered, callOf('other'));
    assert.ok(setUp.of().isWorthRetry('only'));
  });

  test('requests are distinguished by their beginning, their end and their length', () => {
    const long = Buffer.alloc(200_000, 'x');
    const other = Buffer.from(long);
    other.write('y', 199_990);
    const digests = [long, other, long.subarray(1), Buffer.from('short'), Buffer.from('shorT')].map((bytes) => digestRequest(bytes));
    assert.equal(new Set(digests).size, digests.length);
    assert.equal(digestRequest(long), digestRequest(Buffer.from(long)));
  });
});
