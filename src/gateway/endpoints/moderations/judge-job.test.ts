import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPriceBook } from '../../../billing/rating/price-book.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { AttemptPlan } from '../../attempts/call-job.ts';
import { createFakeUpstream } from '../../attempts/exchange/testing/fake-exchange.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { createJudgeJob } from './judge-job.ts';
import { readModeration } from './read-moderation.ts';

const priceBook = createPriceBook({ book: { version: '1', currency: 'USD', entries: [] } as never });
const purchase = { priceBook, requestedModel: 'judge', acceptedAtMs: 0, userName: 'u', keyId: 'k' };

function plan(input: object | string, target: Partial<Target['upstream']> = {}) {
  const body = { input } as never;
  const moderation = readModeration(body, { validation: 'compatible' });
  const job = createJudgeJob({ callId: 'req_1', body, headers: {}, moderation, purchase, newId: (prefix) => `${prefix}_1` });
  const upstream = { ...createFakeUpstream({}, { send: () => {} } as never), ...target };
  return job.plan({ upstream, upstreamModel: 'theirs' }) as AttemptPlan;
}

test('each target gets the request in a dialect that it supports, chat completions first', () => {
  const rows: readonly (readonly [readonly DialectId[], DialectId])[] = [
    [['openai-responses', 'openai-chat'], 'openai-chat'],
    [['openai-responses'], 'openai-responses'],
    [['anthropic-messages'], 'anthropic-messages'],
  ];
  for (const [dialects, chosen] of rows) {
    const { translation, upstreamRequest } = plan('good morning', { dialects });
    assert.equal(translation?.upstream.id, chosen);
    assert.match(String(upstreamRequest.body), /"theirs".*good morning/s);
    assert.deepEqual(
      translation?.notes.list().map(({ kind, field }) => `${kind} ${field}`),
      ['emulated model'],
    );
  }
});

test('the call of a function that replaces a schema is read as the answer', () => {
  const upstream = createFakeUpstream({}, { send: () => {} } as never);
  const traitsOf = (model: string) => ({ ...upstream.traitsOf(model), structuredOutput: false });
  const { relay, upstreamRequest } = plan('I will kill it', { dialects: ['openai-chat'], traitsOf });
  const sent = JSON.parse(String(upstreamRequest.body));
  const { name, parameters } = sent.tools[0].function;
  const names: readonly string[] = parameters.properties.input_1.required;
  const scores = Object.fromEntries(names.map((category) => [category, category === 'violence' ? 0.8 : 0]));
  const call = { id: 'c', type: 'function', function: { name, arguments: JSON.stringify({ input_1: scores }) } };
  const reply = { choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }] };
  const [result] = JSON.parse(relay.writeReply(reply, Buffer.alloc(0)).toString()).results;
  assert.deepEqual([result.flagged, result.categories.violence, result.categories.hate], [true, true, false]);
});

test('an image URL goes to a model that fetches images, and is refused for one that does not', () => {
  const input = [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }];
  const upstream = createFakeUpstream({}, { send: () => {} } as never);
  const withFetching = (fetchesUrls: boolean) => ({
    dialects: ['openai-chat'] as const,
    traitsOf: (model: string) => ({ ...upstream.traitsOf(model), fetchesUrls }),
  });
  assert.match(String(plan(input, withFetching(true)).upstreamRequest.body), /a\.example/);
  assert.throws(() => plan(input, withFetching(false)), { code: 'untranslatable_field', param: 'input' });
});
