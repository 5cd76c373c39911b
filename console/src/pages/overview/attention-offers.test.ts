import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type AttentionItem, offersOf } from './attention-offers.ts';

const all = [
  'usage:read',
  'calls:read',
  'credits:read',
  'credits:write',
  'keys:write',
  'limits:write',
  'prices:publish',
  'tokens:write',
  'upstreams:read',
  'upstreams:write',
  'config:read',
  'config:write',
] as const;

const examples: Readonly<Record<AttentionItem['code'], string>> = {
  budget: 'user:ann',
  balance: 'user:ann',
  spend_rate: 'user:ann',
  upstream_down: 'upstream:openai',
  credential_refused: 'upstream:openai',
  credential_unavailable: 'node:gate-1',
  key_expiring: 'key:k3jd82ls0a',
  price_missing: 'model:gpt-5',
  journal: 'node:gate-1',
  disk: 'node:gate-1',
  books: 'books',
  configuration: 'node:gate-1',
};

test('an operator can do something about every kind of problem, and a viewer is offered nothing that changes', () => {
  for (const [code, subject] of Object.entries(examples) as [AttentionItem['code'], string][]) {
    assert.ok(offersOf({ code, subject }, all).length > 0, code);
    const viewed = offersOf({ code, subject }, ['usage:read', 'calls:read', 'upstreams:read']);
    assert.deepEqual(
      viewed.filter((offer) => 'change' in offer),
      [],
      code,
    );
  }
});

test('names with colons and slashes stay whole', () => {
  const [check] = offersOf({ code: 'upstream_down', subject: 'upstream:a:b/c' }, all);
  assert.deepEqual(check, { text: 'Check it now', permission: 'upstreams:write', change: { name: 'check', upstream: 'a:b/c' } });
});

test('a payment is booked for the user whose balance ends, and tokens are replaced', () => {
  const [payment] = offersOf({ code: 'balance', subject: 'user:ann' }, all);
  assert.deepEqual(payment !== undefined && 'place' in payment && payment.place, {
    to: '/credits',
    search: { post: '1', account: 'user:ann' },
  });
  const [token] = offersOf({ code: 'key_expiring', subject: 'token:t1' }, all);
  assert.deepEqual(token !== undefined && 'place' in token && token.place, { to: '/settings/tokens' });
});
