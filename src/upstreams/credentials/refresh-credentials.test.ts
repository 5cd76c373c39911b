import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';

import { CredentialError } from './credential-source.ts';
import { type FetchedCredential, refreshCredentials } from './refresh-credentials.ts';

type Key = { readonly number: number; readonly endsAtMs: number };

/** A service that issues keys under a simulated time. Its answers come when the test lets them. */
function simulate(options: { readonly lifeMs?: number } = {}) {
  let nowMs = 1_000_000;
  let issued = 0;
  let running = 0;
  let isDown = false;
  const fetches: number[] = [];
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const { lifeMs = 3_600_000 } = options;
  const source = refreshCredentials<Key>({
    clock,
    fetch: async (): Promise<FetchedCredential<Key>> => {
      fetches.push(nowMs);
      running += 1;
      assert.equal(running, 1, 'one fetch at a time');
      await Promise.resolve();
      running -= 1;
      if (isDown) throw new Error('the token server is down');
      issued += 1;
      const endsAtMs = nowMs + lifeMs;
      return { credential: { number: issued, endsAtMs }, expiresAtMs: endsAtMs, origin: 'test', identity: 'me' };
    },
  });
  const { signal } = new AbortController();
  return {
    source,
    fetches,
    advance: (ms: number) => void (nowMs += ms),
    now: () => nowMs,
    down: (away: boolean) => void (isDown = away),
    current: () => source.current(signal),
  };
}

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a source of credentials', () => {
  test('is asked once by callers that come together, and then answers synchronously', async () => {
    const { current, fetches, source } = simulate();
    const [first, second] = await Promise.all([current(), current()]);
    assert.equal(first, second);
    assert.equal(current(), first);
    assert.equal(fetches.length, 1);
    const { origin, identity, fetchedAtMs, expiresAtMs } = source.describe();
    assert.deepEqual(
      { origin, identity, fetchedAtMs, expiresAtMs },
      { origin: 'test', identity: 'me', fetchedAtMs: 1_000_000, expiresAtMs: 4_600_000 },
    );
  });

  test('renews five minutes before the end, while calls use the old one', async () => {
    const { current, advance, fetches } = simulate();
    const first = await current();
    advance(3_299_999);
    assert.equal(current(), first);
    assert.equal(fetches.length, 1);
    advance(1);
    assert.equal(current(), first, 'the call does not wait');
    await settle();
    assert.equal((await current()).number, 2);
  });

  test('uses the old one for ten minutes without a token server, at load, and fails no call before its end', async () => {
    const { current, advance, down, fetches } = simulate({ lifeMs: 3_600_000 });
    await current();
    advance(3_600_000 - 300_000);
    down(true);
    const begun = fetches.length;
    let failed = 0;
    // 600 seconds with 10 calls each; the credential ends after 300.
    for (let second = 0; second < 600; second += 1) {
      for (let call = 0; call < 10; call += 1) {
        const got = current();
        if (got instanceof Promise) await got.catch(() => (failed += 1));
        else assert.ok(second < 300, 'nothing is used after its end');
      }
      await settle();
      advance(1000);
    }
    assert.equal(failed, 3000, 'only calls after the end fail');
    assert.ok(fetches.length - begun < 40, `the pauses grow: ${fetches.length - begun} fetches`);
    down(false);
    advance(30_000);
    assert.equal((await current()).number, 2);
  });

  test('reports a failure once for each reason, again when the last one has ended, and of the end of the failure', async () => {
    let nowMs = 0;
    let outcome: string | undefined;
    const told: string[] = [];
    const source = refreshCredentials<object>({
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      watch: {
        failed: (reason, { failure }) => void told.push(`${reason} ${failure?.inARow} since ${failure?.sinceMs}`),
        recovered: () => void told.push('recovered'),
      },
      fetch: () =>
        outcome === undefined ? Promise.resolve({ credential: {}, expiresAtMs: nowMs + 3_600_000 }) : Promise.reject(new Error(outcome)),
    });
    const { signal } = new AbortController();
    const callAt = async (second: number): Promise<void> => {
      nowMs = second * 1000;
      await Promise.resolve(source.current(signal)).catch(() => {});
      await settle();
    };
    await callAt(0);
    outcome = 'down';
    for (const second of [3310, 3350, 3390]) await callAt(second);
    outcome = 'throttled';
    await callAt(3450);
    await callAt(3601);
    outcome = undefined;
    await callAt(3640);
    assert.deepEqual(told, ['down 1 since 3310000', 'throttled 4 since 3310000', 'throttled 5 since 3310000', 'recovered']);
  });

  test('fetches once after a refusal, and gives the refused one to nobody meanwhile', async () => {
    const { current, advance, source, fetches } = simulate();
    const first = await current();
    advance(60_000);
    source.refused(first);
    source.refused(first);
    const second = await current();
    assert.equal(second.number, 2);
    source.refused(first);
    assert.equal(fetches.length, 2, 'a late refusal of the old one changes nothing');
  });

  test('does not fetch again for a credential that is refused as soon as it comes', async () => {
    const { current, source, fetches } = simulate();
    const first = await current();
    source.refused(first);
    assert.equal(current(), first);
    assert.equal(fetches.length, 1);
  });

  test('fetches again if a secret was refused while a fetch ran that returns the same one', async () => {
    let value = 'old';
    let waiting = Promise.withResolvers<void>();
    let nowMs = 0;
    let fetches = 0;
    const source = refreshCredentials<string>({
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      trustedMs: 0,
      recheckMs: 1000,
      fetch: async () => {
        fetches += 1;
        const credential = value;
        await waiting.promise;
        return { credential };
      },
    });
    const { signal } = new AbortController();
    const first = source.current(signal);
    waiting.resolve();
    assert.equal(await first, 'old');
    nowMs = 1000;
    waiting = Promise.withResolvers();
    assert.equal(source.current(signal), 'old', 'the call does not wait for the fetch in the background');
    value = 'new';
    source.refused('old');
    const second = source.current(signal);
    waiting.resolve();
    assert.equal(await second, 'new');
    assert.equal(fetches, 3);
  });

  test('fetches a secret again at once if it is refused, and ever more rarely while the same one comes back', async () => {
    let nowMs = 0;
    let fetches = 0;
    const source = refreshCredentials<string>({
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      trustedMs: 0,
      recheckMs: 3_600_000,
      fetch: () => {
        fetches += 1;
        return Promise.resolve({ credential: 'wrong' });
      },
    });
    const { signal } = new AbortController();
    await source.current(signal);
    for (let second = 0; second < 600; second += 1) {
      source.refused('wrong');
      await source.current(signal);
      nowMs += 1000;
    }
    assert.ok(fetches > 5 && fetches < 20, `${fetches} fetches in ten minutes`);
  });

  test('says what is wrong if a credential has ended when it comes', async () => {
    const { current, source } = simulate({ lifeMs: -300_000 });
    await assert.rejects(
      async () => current(),
      (error) => error instanceof CredentialError && /clock of this machine/.test(error.message),
    );
    assert.equal(source.describe().failure?.inARow, 1);
  });

  test('ends a wait when its caller leaves, and the fetch goes on for the others', async () => {
    const { source, current } = simulate();
    const leaving = new AbortController();
    const left = Promise.resolve(source.current(leaving.signal));
    const stays = current();
    leaving.abort(new Error('left'));
    await assert.rejects(left, /left/);
    assert.equal((await stays).number, 1);
  });

  test('limits each fetch, and ends it when it is closed', async () => {
    const clock = { nowMs: () => 0, monotonicMs: () => 0 };
    const never = (): Promise<never> => new Promise(() => {});
    const slow = refreshCredentials({ clock, timeoutMs: 10, fetch: never });
    await assert.rejects(async () => slow.current(new AbortController().signal), CredentialError);
    const closed = refreshCredentials({ clock, fetch: never });
    const waiting = Promise.resolve(closed.current(new AbortController().signal));
    const refused = assert.rejects(waiting, CredentialError);
    await closed.close();
    await refused;
  });

  test('in any order of calls, refusals, outages and jumps: no ended credential, one fetch at a time, and recovery', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 4_000_000 }) }),
      fc.record({ do: fc.constantFrom('call' as const, 'refuse' as const, 'down' as const, 'up' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const simulated = simulate();
        const { current, advance, down, source, now } = simulated;
        let last: Key | undefined;
        const call = async (): Promise<void> => {
          const got = await Promise.resolve(current()).catch(() => undefined);
          if (got === undefined) return;
          assert.ok(got.endsAtMs > now(), 'it has not ended');
          last = got;
        };
        for (const one of steps) {
          if (one.do === 'advance') advance(one.ms);
          else if (one.do === 'call') await call();
          else if (one.do === 'refuse' && last !== undefined) source.refused(last);
          else down(one.do === 'down');
        }
        down(false);
        advance(30_000);
        await settle();
        await current();
      }),
    );
  });
});
