import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { TraitDifferences } from '../../../inference/testing/fake-traits.ts';
import type { InferenceRequest, Turn } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { createFakeRequest } from '../../testing/fake-translation.ts';
import { codec } from './codec.ts';
import { createFit, effortTraits, encode } from './testing/test-kit.ts';

const tools = [{ kind: 'function', name: 'f', parameters: { type: 'object' } }] as const;

type Expected = { readonly body: Readonly<Record<string, unknown>>; readonly notes?: readonly string[] };

function check(name: string, request: Partial<InferenceRequest>, expected: Expected, traits: TraitDifferences = {}): void {
  test(name, () => {
    const { body, notes } = encode(request, traits);
    for (const [field, value] of Object.entries(expected.body)) assert.deepEqual(body[field], value, field);
    assert.deepEqual(notes, expected.notes ?? []);
  });
}

const on = { mode: 'on' } as const;
const enabled = (budget: number): JsonObject => ({ type: 'enabled', budget_tokens: budget });
const off = { type: 'disabled' };

check('max_tokens: as asked', { outputTokensMax: 10 }, { body: { max_tokens: 10 } });
check('max_tokens: the model’s own where nothing was asked', {}, { body: { max_tokens: 64_000 } });
check(
  'max_tokens: never more than the model writes',
  { outputTokensMax: 100_000 },
  { body: { max_tokens: 64_000 }, notes: ['adapted max_tokens'] },
);
test('max_tokens is 4096 if no limit is known', () => {
  const { outputTokensMax: _unknown, ...traits } = createFit().traits;
  assert.equal(codec.encodeRequest(createFakeRequest({}), { ...createFit(), traits }).body.max_tokens, 4096);
});

check('thinking: nothing asked, nothing said', {}, { body: { thinking: undefined, output_config: undefined } });
check('thinking: off is said', { reasoning: { mode: 'off' } }, { body: { thinking: off } });
check(
  'thinking: a budget below the limit',
  { reasoning: { ...on, budgetTokens: 2000 }, outputTokensMax: 3000 },
  { body: { thinking: enabled(2000), max_tokens: 3000 } },
);
check(
  'thinking: a budget of at least 1024',
  { reasoning: { ...on, budgetTokens: 10 }, outputTokensMax: 3000 },
  { body: { thinking: enabled(1024) } },
);
check(
  'thinking: the limit is raised rather than the budget refused',
  { reasoning: { ...on, effort: 'medium' }, outputTokensMax: 1000 },
  { body: { thinking: enabled(8192), max_tokens: 9192 }, notes: ['adapted max_tokens'] },
);
check(
  'thinking: the budget shrinks where the limit cannot be raised',
  { reasoning: { ...on, effort: 'high' }, outputTokensMax: 1000 },
  { body: { thinking: enabled(3096), max_tokens: 4096 }, notes: ['adapted max_tokens', 'adapted thinking'] },
  { outputTokensMax: 4096 },
);
check(
  'thinking: off where there is no room at all',
  { reasoning: on, outputTokensMax: 500 },
  { body: { thinking: off, max_tokens: 500 }, notes: ['dropped thinking'] },
  { outputTokensMax: 1000 },
);
check(
  'thinking: an effort for models that are steered by one, the thoughts shown',
  { reasoning: { ...on, effort: 'xhigh', visible: true } },
  { body: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } } },
  effortTraits,
);
check(
  'thinking: a budget becomes an effort, the thoughts hidden',
  { reasoning: { ...on, budgetTokens: 10_000, visible: false } },
  { body: { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'high' } } },
  effortTraits,
);
check(
  'thinking: a model that does not think',
  { reasoning: { ...on, effort: 'low' } },
  { body: { thinking: undefined }, notes: ['dropped thinking'] },
  { reasoning: 'none' },
);

const loop = (...reasoning: readonly 'anthropic'[]): readonly Turn[] => [
  { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
  {
    role: 'assistant',
    parts: [
      ...reasoning.map((origin) => ({ kind: 'reasoning', text: ['Hm'], proof: { origin, blob: 'S' } }) as const),
      { kind: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
    ],
  },
  { role: 'user', parts: [{ kind: 'tool-result', callId: 'a', content: [{ kind: 'text', text: 'ok' }], isError: false }] },
];

check(
  'thinking: off in a tool loop whose thoughts were lost (BerriAI/litellm#15601, anomalyco/opencode#3077, pydantic/pydantic-ai#2040)',
  { turns: loop(), tools, reasoning: { ...on, budgetTokens: 2000 } },
  { body: { thinking: off }, notes: ['dropped thinking'] },
);
check(
  'thinking: stays on in a tool loop that has its thoughts',
  { turns: loop('anthropic'), tools, reasoning: { ...on, budgetTokens: 2000 } },
  { body: { thinking: enabled(2000) } },
);
check(
  'thinking: stays on after a loop that is over',
  {
    turns: [
      ...loop(),
      { role: 'assistant', parts: [{ kind: 'text', text: 'Done.' }] },
      { role: 'user', parts: [{ kind: 'text', text: 'Thanks.' }] },
    ],
    tools,
    reasoning: { ...on, budgetTokens: 2000 },
  },
  { body: { thinking: enabled(2000) } },
);
check(
  'thinking: adaptive thinking does not ask for the thoughts of a loop',
  { turns: loop(), tools, reasoning: { ...on, effort: 'low' } },
  { body: { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } } },
  effortTraits,
);

check(
  'a forced tool goes before thinking',
  { tools, toolChoice: { kind: 'required' }, reasoning: { ...on, budgetTokens: 2000 } },
  { body: { tool_choice: { type: 'any' }, thinking: off }, notes: ['adapted thinking'] },
);
check(
  'a model that always thinks cannot be forced',
  { tools, toolChoice: { kind: 'function', name: 'f' }, parallelToolCalls: false, reasoning: { ...on, effort: 'low' } },
  {
    body: { tool_choice: { type: 'auto', disable_parallel_tool_use: true }, thinking: { type: 'adaptive' } },
    notes: ['adapted tool_choice'],
  },
  { ...effortTraits, alwaysReasons: true },
);

check('sampling: as asked', { sampling: { temperature: 0.3, topK: 4 } }, { body: { temperature: 0.3, top_k: 4, top_p: undefined } });
check(
  'sampling: more than 1 is cut to 1',
  { sampling: { temperature: 1.7 } },
  { body: { temperature: 1 }, notes: ['adapted temperature'] },
);
check(
  'sampling: temperature and top-p are not sent together',
  { sampling: { temperature: 0.3, topP: 0.9 } },
  { body: { temperature: 0.3, top_p: undefined }, notes: ['dropped top_p'] },
);
check(
  'sampling: defaults beside a top-p, and what means nothing, go unsaid',
  { sampling: { temperature: 1, topP: 0.9, topK: 0, presencePenalty: 0, frequencyPenalty: 0 } },
  { body: { temperature: undefined, top_p: 0.9, top_k: undefined } },
);
check('sampling: a top-p of 1 is none', { sampling: { temperature: 0.3, topP: 1 } }, { body: { temperature: 0.3, top_p: undefined } });
check(
  'sampling: with thinking on',
  { sampling: { temperature: 0.3, topP: 0.5, topK: 4 }, reasoning: { ...on, budgetTokens: 2000 } },
  {
    body: { temperature: undefined, top_p: undefined, top_k: undefined },
    notes: ['dropped temperature', 'dropped top_p', 'dropped top_k'],
  },
);
check(
  'sampling: what thinking allows',
  { sampling: { temperature: 1, topP: 0.97 }, reasoning: { ...on, budgetTokens: 2000 } },
  { body: { temperature: undefined, top_p: 0.97 } },
);
check(
  'sampling: models that take none',
  { sampling: { temperature: 0.3, topP: 0.5, topK: 4, seed: 1, presencePenalty: 1, frequencyPenalty: 1 } },
  {
    body: { temperature: undefined, top_p: undefined, top_k: undefined },
    notes: ['dropped seed', 'dropped presencePenalty', 'dropped frequencyPenalty', 'dropped temperature', 'dropped top_p', 'dropped top_k'],
  },
  effortTraits,
);
check(
  'sampling: defaults are nothing to note',
  { sampling: { temperature: 1, topP: 1 } },
  { body: { temperature: undefined } },
  effortTraits,
);

check(
  'stop sequences of white space, which the vendor refuses, are left to the gateway',
  { stopSequences: ['\n', 'END'] },
  { body: { stop_sequences: ['END'] }, notes: ['emulated stop_sequences'] },
);
test('at stop sequences of white space, the gateway cuts the reply', () => {
  assert.deepEqual(codec.encodeRequest(createFakeRequest({ stopSequences: ['\n\n', '', 'END'] }), createFit()).cutAt, ['\n\n']);
  assert.equal(codec.encodeRequest(createFakeRequest({ stopSequences: ['END'] }), createFit()).cutAt, undefined);
});
check('the end user', { endUser: 'u' }, { body: { metadata: { user_id: 'u' } } });
check(
  'an end user whose name is too long',
  { endUser: 'u'.repeat(300) },
  { body: { metadata: { user_id: 'u'.repeat(256) } }, notes: ['adapted metadata.user_id'] },
);
check('tier auto', { serviceTier: 'auto' }, { body: { service_tier: 'auto' } });
check('tier default', { serviceTier: 'default' }, { body: { service_tier: 'standard_only' } });
check('tier priority', { serviceTier: 'priority' }, { body: { service_tier: 'auto' } });
check('tier flex', { serviceTier: 'flex' }, { body: { service_tier: 'standard_only' }, notes: ['adapted service_tier'] });
check('how wordy an answer shall be cannot be said here', { verbosity: 'low' }, { body: {}, notes: ['dropped verbosity'] });
check('a stream', { stream: true }, { body: { stream: true } });
check(
  'fields of other dialects are named when they matter',
  {
    vendorFields: [
      { field: 'logit_bias', value: {}, weight: 'matters' },
      { field: 'store', value: true, weight: 'harmless' },
    ],
  },
  { body: { logit_bias: undefined, store: undefined }, notes: ['dropped logit_bias'] },
);

test('strict translation refuses drops', () => {
  const request = createFakeRequest({ sampling: { seed: 1 } });
  assert.throws(() => codec.encodeRequest(request, createFit({}, true)), { code: 'untranslatable_field' });
});

test('a request for a count has neither limits nor sampling', () => {
  const request = createFakeRequest({
    tools,
    instructions: [{ kind: 'text', text: 'S' }],
    stream: true,
    stopSequences: ['END'],
    endUser: 'u',
    serviceTier: 'auto',
    sampling: { temperature: 0.1 },
  });
  assert.deepEqual(codec.encodeCountRequest?.(request, createFit()), {
    model: 'claude-upstream',
    system: 'S',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
  });
  assert.equal(codec.decodeCount?.({ input_tokens: 14 }), 14);
  for (const odd of [undefined, {}, { input_tokens: '14' }, { input_tokens: -1 }]) assert.equal(codec.decodeCount?.(odd), undefined);
  assert.deepEqual(codec.encodeCount?.(14), { input_tokens: 14 });
});
