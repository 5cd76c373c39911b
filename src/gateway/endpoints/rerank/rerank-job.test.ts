import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPriceBook } from '../../../billing/rating/price-book.ts';
import { createFakeUpstream } from '../../attempts/exchange/testing/fake-exchange.ts';
import type { AttemptPlan } from '../../attempts/call-job.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { readRanking } from './read-ranking.ts';
import { createRerankJob } from './rerank-job.ts';

const body = { model: 'asked', query: 'coast', documents: ['a lighthouse', 'a bank'], max_tokens_per_doc: 64 };
const ranking = readRanking(body, 'cohere-v2', 'compatible', false);
const priceBook = createPriceBook({ book: { version: '1', currency: 'USD', entries: [] } as never });
const purchase = { priceBook, requestedModel: 'asked', acceptedAtMs: 0, userName: 'u', keyId: 'k' };
const job = createRerankJob({ callId: 'req_1', body, headers: {}, form: 'cohere-v2', ranking, isStrict: false, purchase });

function targetOf(rerank: 'cohere' | 'jina' | 'voyage' | 'vllm', basePath: string): Target {
  const upstream = createFakeUpstream({}, { send: () => {}, close: () => Promise.resolve() });
  return { upstream: { ...upstream, basePath, services: { rerank } }, upstreamModel: 'theirs' };
}

const planOf = (target: Target): AttemptPlan => job.plan(target) as AttemptPlan;

test('the base URL may end in a version, or in the path that Cohere has for clients of OpenAI', () => {
  for (const [spelling, basePath, path] of [
    ['cohere', '/compatibility/v1', '/v2/rerank'],
    ['cohere', '/v2', '/v2/rerank'],
    ['cohere', '', '/v2/rerank'],
    ['jina', '/v1', '/v1/rerank'],
    ['voyage', '/proxy/v1', '/proxy/v1/rerank'],
    ['vllm', '/models/v1x', '/models/v1x/v1/rerank'],
  ] as const)
    assert.equal(planOf(targetOf(spelling, basePath)).upstreamRequest.path, path, `${spelling} ${basePath}`);
});

test('a field that one target does not support is noted for that target only', () => {
  const fieldsAt = (spelling: 'cohere' | 'jina') =>
    planOf(targetOf(spelling, '/v1'))
      .translation?.notes.list()
      .map(({ field }) => field);
  assert.equal(fieldsAt('cohere'), undefined);
  assert.deepEqual(fieldsAt('jina'), ['max_tokens_per_doc']);
});

test('a reply that has begun counts its search units if these are billed, and nothing otherwise', () => {
  const begunAt = (spelling: 'cohere' | 'jina') => planOf(targetOf(spelling, '/v1')).relay.begun?.().usageReport?.usage;
  assert.deepEqual(begunAt('cohere'), { searchUnits: 1 });
  assert.equal(begunAt('jina'), undefined);
});

test('figures above the bounds of the request are suspicious, and usual ones are not', () => {
  const target = targetOf('cohere', '/v1');
  const bound = job.bound({ target, plan: planOf(target), pricingParameters: undefined });
  assert.deepEqual(
    [{ searchUnits: 1 }, { searchUnits: 2 }, { inputTokens: 5 }, { inputTokens: 5000 }, { outputTokens: 1 }].map((usage) =>
      bound.isSuspicious(usage, 0n),
    ),
    [false, true, false, true, true],
  );
  assert.equal(bound.find().most.searchUnits, 1);
});

test('a reply that names a document that was not sent is invalid', () => {
  const { relay } = planOf(targetOf('vllm', '/v1'));
  const reply = { results: [{ index: 7, relevance_score: 1 }] };
  assert.throws(() => relay.writeReply(reply, Buffer.from('{}')), { code: 'upstream_invalid_reply' });
});
