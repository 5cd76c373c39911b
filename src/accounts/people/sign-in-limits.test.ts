import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createSignInLimits, type PasswordTry } from './sign-in-limits.ts';

function start() {
  let nowMs = 0;
  const limits = createSignInLimits({ nowMs: () => nowMs, monotonicMs: () => nowMs });
  return {
    advance: (ms: number) => {
      nowMs += ms;
    },
    /** 0 if the try may be made; it then fails. */
    fail: (attempt: Partial<PasswordTry>): number => {
      const begun = limits.begin({ personId: 'per_1', name: 'ann', address: undefined, ...attempt });
      return 'retryAfterSeconds' in begun ? begun.retryAfterSeconds : 0;
    },
    limits,
  };
}

const minuteMs = 60_000;

test('after ten failures in fifteen minutes a person has one try a minute, until the failures are old', () => {
  const { fail, advance } = start();
  let address = 0;
  const next = (): number => fail({ address: `10.0.0.${(address += 1)}` });
  for (let index = 0; index < 10; index += 1) assert.equal(next(), 0);
  assert.equal(next(), 60);
  advance(minuteMs - 1);
  assert.equal(next(), 1);
  advance(1);
  assert.equal(next(), 0);
  assert.equal(next(), 60);
  advance(14 * minuteMs);
  for (let index = 0; index < 9; index += 1) assert.equal(next(), 0, 'nine of the ten are old');
  assert.equal(next(), 60);
});

test('thirty failures of one address slow it down for every name; an IPv6 customer is one address', () => {
  for (const addressOf of [() => '10.0.0.1', (index: number) => `2001:db8:0:7::${index.toString(16)}`, () => '::ffff:10.0.0.1']) {
    const { fail } = start();
    for (let index = 0; index < 30; index += 1) assert.equal(fail({ personId: `per_${index}`, address: addressOf(index) }), 0);
    assert.equal(fail({ personId: 'per_other', address: addressOf(31) }), 60);
    assert.equal(fail({ personId: 'per_other', address: '2001:db8:0:8::1' }), 0);
  }
});

test('many tries at the same moment do not pass together', () => {
  const { limits } = start();
  const begun = Array.from({ length: 50 }, (_, index) => limits.begin({ personId: 'per_1', name: 'ann', address: `10.0.0.${index}` }));
  assert.equal(begun.filter((each) => 'takeBack' in each).length, 10);
});

test('right passwords are not failures', () => {
  const { limits } = start();
  for (let index = 0; index < 100; index += 1) {
    const begun = limits.begin({ personId: 'per_1', name: 'ann', address: '10.0.0.1' });
    if (!('takeBack' in begun)) assert.fail(`refused at ${index}`);
    begun.takeBack();
    begun.takeBack();
  }
});

test('a name that nobody has is limited in any case of its letters, and a flood of such names frees no person', () => {
  const { fail } = start();
  for (let index = 0; index < 10; index += 1)
    fail({ personId: undefined, name: index % 2 === 0 ? 'Ghost' : 'ghost', address: `10.1.0.${index}` });
  assert.equal(fail({ personId: undefined, name: 'GHOST', address: '10.2.0.1' }), 60);
  for (let index = 0; index < 10; index += 1) fail({ address: `10.3.0.${index}` });
  for (let index = 0; index < 20_000; index += 1)
    fail({ personId: undefined, name: `n${index}`, address: `10.4.${index >> 8}.${index & 255}` });
  assert.equal(fail({ address: '10.5.0.1' }), 60);
});
