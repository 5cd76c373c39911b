import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changeOf, draftOf, emptyDraft, isAllowed, type Limits, optionsOf } from './limits-draft.ts';

const limits: Limits = {
  requests_per_minute: 60,
  tokens_per_minute: null,
  concurrency: null,
  models: ['gpt-*', 'claude-sonnet-4-5'],
  upstreams: null,
  addresses: null,
  spend_per_day_usd: null,
  spend_per_month_usd: '12.50',
  spend_total_usd: null,
  media_retention_days: null,
  media_bytes_max: null,
  expires_at: '2026-12-31T18:15:00.000Z',
};
const zone = 'Asia/Kathmandu';

test('a form that nobody has touched changes nothing', () => {
  const draft = draftOf(limits, zone);
  assert.equal(draft.expires_at, '2027-01-01T00:00', 'a time on the clocks of the zone');
  assert.deepEqual(changeOf(draft, draft, zone), {});
});

test('only what was changed is sent, and an empty field takes a limit away', () => {
  const draft = draftOf(limits, zone);
  const change = changeOf(draft, { ...draft, requests_per_minute: '1 000', spend_per_month_usd: ' ', models: 'gpt-5, gpt-5-mini,' }, zone);
  assert.deepEqual(change, { requests_per_minute: 1000, spend_per_month_usd: null, models: ['gpt-5', 'gpt-5-mini'] });
  assert.equal(optionsOf(change), ' --rpm 1000 --spend-per-month none --models gpt-5,gpt-5-mini');
  assert.deepEqual(changeOf(emptyDraft, { ...emptyDraft, expires_at: '2027-01-01T00:00' }, zone), {
    expires_at: '2026-12-31T18:15:00.000Z',
  });
});

test('a text that is no number is not taken for "no limit"', () => {
  assert.deepEqual(changeOf(emptyDraft, { ...emptyDraft, concurrency: 'many' }, zone), { concurrency: 'many' });
});

test('names are allowed as the gateway allows them', () => {
  const allowed = ['gpt-5', 'gpt-5-mini', 'claude-sonnet-4-5', 'claude-opus-4'].filter((name) => isAllowed(limits.models ?? [], name));
  assert.deepEqual(allowed, ['gpt-5', 'gpt-5-mini', 'claude-sonnet-4-5']);
});
