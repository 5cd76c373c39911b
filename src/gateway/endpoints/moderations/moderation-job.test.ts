import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPriceBook } from '../../../billing/rating/price-book.ts';
import type { AttemptPlan } from '../../attempts/call-job.ts';
import { createFakeUpstream } from '../../attempts/exchange/testing/fake-exchange.ts';
import { createModerationJob } from './moderation-job.ts';
import { readModeration } from './read-moderation.ts';

const body = { model: 'asked', input: ['good morning', 'I will kill it'], user: null };
const moderation = readModeration(body, { validation: 'compatible' });
const priceBook = createPriceBook({ book: { version: '1', currency: 'USD', entries: [] } as never });
const purchase = { priceBook, requestedModel: 'asked', acceptedAtMs: 0, userName: 'u', keyId: 'k' };
const job = createModerationJob({ callId: 'req_1', body, headers: {}, moderation, purchase });
const upstream = { ...createFakeUpstream({}, { send: () => {} } as never), services: { moderations: '/moderations' } };
const { relay, upstreamRequest } = job.plan({ upstream, upstreamModel: 'theirs' }) as AttemptPlan;

const verdict = { flagged: false, categories: { hate: false }, category_scores: { hate: 0 } };

test('the target gets its own name of the model, and no fields that are null', () => {
  assert.equal(upstreamRequest.path, '/base/moderations');
  assert.deepEqual(JSON.parse(String(upstreamRequest.body)), { model: 'theirs', input: body.input });
});

test('a reply that lacks a verdict does not reach the client, so that no unjudged input seems harmless', () => {
  const whole = relay.writeReply({ id: 'm', model: 'theirs', results: [verdict, verdict] }, Buffer.alloc(0));
  assert.equal(JSON.parse(whole.toString()).model, 'asked');
  for (const results of [[], [verdict], [verdict, {}]])
    assert.throws(() => relay.writeReply({ results }, Buffer.alloc(0)), { code: 'upstream_invalid_reply' });
});

test('the hold covers the most tokens of an image, and the bytes of text', () => {
  const image = { type: 'image_url', image_url: { url: 'https://a.example/b.png' } };
  const { inputs, bounds } = readModeration({ input: [{ type: 'text', text: 'é' }, image] }, { validation: 'compatible' });
  assert.deepEqual([inputs.length, bounds.most], [1, { inputTokens: 8194 }]);
});
