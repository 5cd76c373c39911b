import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type MoneyLine, toneOf, usedShare } from './standing-lines.ts';

const usd = (text: string) => ({
  usd: text,
  nano_usd: String(BigInt(text.replace('.', '')) * 10n ** BigInt(9 - (text.split('.')[1] ?? '').length)),
});
const line: MoneyLine = {
  level: 'user',
  of: 'day',
  limit: usd('10'),
  spent: usd('7.5'),
  reserved: usd('0.5'),
  left: usd('2'),
  is_used_up: false,
  resets_at: null,
};

test('the used part of a limit is what is not left, whatever gateways have leased of the rest', () => {
  assert.equal(usedShare(line), 0.8);
  assert.equal(usedShare({ ...line, reserved: usd('2.5') }), 0.8);
  assert.equal(usedShare({ ...line, spent: usd('90'), left: usd('0') }), 1, 'never more than the whole');
});

test('a balance is used by what videos hold of it, and a debt is used up', () => {
  assert.equal(usedShare({ ...line, of: 'balance', spent: null, left: usd('7.5') }), 0.25);
  assert.equal(usedShare({ ...line, of: 'balance', limit: { usd: '-1', nano_usd: '-1000000000' }, spent: null, is_used_up: true }), 1);
});

test('amounts that the reader may not see are unknown, not zero', () => {
  assert.equal(usedShare({ ...line, limit: null, spent: null, reserved: null, left: null }), undefined);
});

test('a limit warns from 80 %, and is bad when it is used up', () => {
  assert.deepEqual([toneOf(0.79, false), toneOf(0.8, false), toneOf(1, false), toneOf(0.2, true)], ['plain', 'warning', 'bad', 'bad']);
});
