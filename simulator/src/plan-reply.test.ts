import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Check } from 'typebox/schema';
import { countTokens } from './count-tokens.ts';
import { countToolCall, createPlanner, type PlannerOptions } from './plan-reply.ts';
import { createPromptCache } from './prompt-cache.ts';
import { signReasoning } from './reasoning-signature.ts';
import type { JsonRecord, PlanRequest, ReplyPlan } from './simulated-vendor.ts';
import type { Steering } from './steering.ts';

const lookup = {
  name: 'lookup',
  schema: {
    type: 'object',
    properties: { query: { type: 'string' }, limit: { type: 'integer' } },
    required: ['query', 'limit'],
  } as JsonRecord,
};
const save = { name: 'save', schema: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] } as JsonRecord };

function ask(changes: Partial<PlanRequest> = {}): PlanRequest {
  return {
    model: 'm-large',
    promptText: 'What is a weir?',
    lastUserText: 'What is a weir?',
    mediaCount: 0,
    tools: [],
    toolChoice: 'auto',
    parallelToolCalls: true,
    answersToolResult: false,
    stopSequences: [],
    cachedPrefixCharacters: 0,
    cacheLifetime: '5m',
    ...changes,
  };
}

function plan(changes: Partial<PlanRequest> = {}, steering: Steering = {}, options: Partial<PlannerOptions> = {}): ReplyPlan {
  return createPlanner({ seed: 'test', steering, ...options })(ask(changes));
}

function countAll(reply: ReplyPlan): number {
  const calls = reply.toolCalls.reduce((sum, call) => sum + countToolCall(call), 0);
  return countTokens(reply.reasoning?.text ?? '') + countTokens(reply.text ?? '') + countTokens(reply.refusal ?? '') + calls;
}

test('the same seed and request give the same plan, another seed gives another', () => {
  const request = { tools: [lookup, save], thinking: {} };
  assert.deepEqual(plan(request), plan(request));
  assert.notDeepEqual(plan(request), plan(request, {}, { seed: 'other' }));
  assert.notDeepEqual(plan(request), plan(request, { seed: 'steered' }));
  assert.notDeepEqual(plan(), plan({ promptText: 'What is a lock?', lastUserText: 'What is a lock?' }));
});

test('a repeated request gets the same text under another id', () => {
  let calls = 0;
  const numberCall = (): number => calls++;
  const first = plan({}, {}, { numberCall });
  const second = plan({}, {}, { numberCall });
  assert.equal(first.text, second.text);
  assert.notEqual(first.id, second.id);
});

test('the reply says that it is simulated, mentions the prompt and has characters of several bytes', () => {
  const text = plan({ lastUserText: `${'long question '.repeat(20)}end` }, { outputTokens: 200 }).text ?? '';
  assert.match(text, /^This is a simulated reply from m-large\. You wrote: “long question/);
  assert.ok(!text.includes('end”'));
  assert.ok(Buffer.byteLength(text) > text.length);
});

test('output limit: the counted tokens never exceed it, and the stop reason shows a cut', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 120 }),
      fc.constantFrom('auto', 'required', 'none'),
      fc.boolean(),
      fc.string(),
      (max, toolChoice, thinks, text) => {
        const reply = plan({ outputTokensMax: max, tools: [lookup, save], toolChoice, promptText: text, ...(thinks && { thinking: {} }) });
        assert.ok(reply.usage.outputTokens <= Math.max(max, 0));
        assert.ok(countAll(reply) <= reply.usage.outputTokens);
        const unlimited = plan({ tools: [lookup, save], toolChoice, promptText: text, ...(thinks && { thinking: {} }) });
        assert.equal(reply.stop === 'max-tokens', unlimited.usage.outputTokens > max);
      },
    ),
    { numRuns: 60 },
  );
});

test('truncated reasoning is signed as it is shown', () => {
  const reply = plan({ thinking: {}, outputTokensMax: 5 });
  assert.equal(reply.reasoning?.signature, signReasoning(reply.reasoning?.text ?? ''));
  assert.equal(reply.text, undefined);
  assert.equal(reply.usage.reasoningTokens, 5);
});

test('stop sequence: the earliest one wins and is not part of the text', () => {
  const reply = plan({ stopSequences: ['simulated', 'is a', 'not there'] });
  assert.equal(reply.text, 'This ');
  assert.equal(reply.stop, 'stop-sequence');
  assert.equal(reply.stopSequence, 'is a');
  assert.equal(reply.usage.outputTokens, 2);
});

test('an empty reply still counts one token, unless none was permitted', () => {
  assert.equal(plan({}, { text: '' }).usage.outputTokens, 1);
  assert.equal(plan({ outputTokensMax: 0 }).usage.outputTokens, 0);
});

test('tool choice decides whether tools are called, and after a result the model answers with text', () => {
  assert.ok(plan({ tools: [lookup] }).toolCalls.length > 0);
  assert.equal(plan({ tools: [lookup], toolChoice: 'none' }).toolCalls.length, 0);
  assert.equal(plan({ tools: [lookup], answersToolResult: true }).toolCalls.length, 0);
  const forced = plan({ tools: [lookup, save], toolChoice: { name: 'save' }, answersToolResult: true });
  assert.deepEqual(new Set(forced.toolCalls.map((call) => call.name)), new Set(['save']));
  assert.equal(forced.stop, 'tool-use');
  assert.equal(forced.text, undefined);
});

test('two calls are made only if parallel calls are permitted, with different ids', () => {
  const prompts = Array.from({ length: 40 }, (_, index) => `question ${index}`);
  const counts = (parallelToolCalls: boolean): number[] =>
    prompts.map((promptText) => plan({ promptText, tools: [lookup, save], toolChoice: 'required', parallelToolCalls }).toolCalls.length);
  assert.deepEqual(new Set(counts(true)), new Set([1, 2]));
  assert.deepEqual(new Set(counts(false)), new Set([1]));
  const [first, second] = plan({ tools: [lookup] }, { toolCalls: 2 }).toolCalls;
  assert.equal(first?.name, second?.name);
  assert.notEqual(first?.id, second?.id);
});

test('arguments and structured output are valid for their schemas', () => {
  for (const call of plan({ tools: [lookup, save] }, { toolCalls: 2 }).toolCalls) {
    assert.ok(Check(call.name === 'lookup' ? lookup.schema : save.schema, call.arguments));
  }
  const text = plan({ outputSchema: lookup.schema }).text ?? '';
  assert.ok(Check(lookup.schema, JSON.parse(text)));
  assert.equal((JSON.parse(plan({ outputSchema: {} }).text ?? '') as JsonRecord)['simulated'], true);
});

test('control: every stop reason can be requested, with its matching text', () => {
  for (const stop of ['end', 'max-tokens', 'stop-sequence', 'refusal', 'content-filter', 'pause'] as const) {
    const reply = plan({ tools: [lookup], stopSequences: ['###'] }, { stop });
    assert.equal(reply.stop, stop);
    assert.equal(reply.toolCalls.length, 0);
    assert.match(reply.refusal ?? reply.text ?? '', /^This is a simulated/);
  }
  assert.equal(plan({ tools: [lookup], toolChoice: 'none' }, { stop: 'tool-use' }).stop, 'tool-use');
  // Without a tool or a sequence to stop at, the reply ends normally.
  assert.equal(plan({}, { stop: 'tool-use' }).stop, 'end');
  assert.equal(plan({}, { stop: 'stop-sequence' }).stop, 'end');
});

test('control: exact text, exact length, and a directive in the prompt apply', () => {
  assert.equal(plan({}, { text: 'Only this, 世界.' }).text, 'Only this, 世界.');
  assert.equal(plan({}, { outputTokens: 333 }).usage.outputTokens, 333);
  const asked = plan({ lastUserText: 'Please [[simulator text=Hi%20there stop=pause]] now' });
  assert.equal(asked.text, 'Hi there');
  assert.equal(asked.stop, 'pause');
  const both = plan({ lastUserText: '[[simulator text=prompt]]' }, { text: 'header' });
  assert.equal(both.text, 'header');
});

test('a named tool is called once, with its arguments, and the text follows its result', () => {
  const lastUserText = '[[simulator tool-name=save tool-arguments=%257B%2522note%2522%253A%2522n%2522%257D text=done]]';
  const first = plan({ lastUserText, tools: [lookup, save] });
  assert.deepEqual(
    [first.toolCalls.map(({ name, arguments: given }) => [name, given]), first.text],
    [[['save', { note: 'n' }]], undefined],
  );
  const second = plan({ lastUserText, tools: [lookup, save], answersToolResult: true });
  assert.deepEqual([second.toolCalls, second.text, second.stop], [[], 'done', 'end']);
  const elsewhere = plan({ lastUserText, tools: [lookup] });
  assert.deepEqual([elsewhere.toolCalls, elsewhere.text], [[], 'done']);
});

test('a prompt that a JSON request quotes gets JSON', () => {
  const outputSchema: JsonRecord = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] };
  const { text } = plan({ lastUserText: '[[simulator text=done]]', outputSchema });
  assert.ok(Check(outputSchema, JSON.parse(text ?? '')));
});

test('cache: the first request writes, a later one reads, and a longer prefix reads the known part and writes the rest', () => {
  const cache = createPromptCache();
  let keep = (): void => undefined;
  const options = { cache, onPlan: (_plan: ReplyPlan, _steering: Steering, keepCache: () => void) => void (keep = keepCache) };
  const prompt = 'a'.repeat(400);
  const usageOf = (promptText: string, cachedPrefixCharacters: number, nowMs = 0): ReplyPlan['usage'] => {
    const { usage } = plan({ promptText, cachedPrefixCharacters }, {}, { ...options, nowMs });
    keep();
    return usage;
  };
  const parts = (usage: ReplyPlan['usage']): number[] => [usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens];
  assert.deepEqual(parts(usageOf(prompt, 200)), [50, 0, 50]);
  assert.deepEqual(parts(usageOf(prompt, 200)), [50, 50, 0]);
  assert.deepEqual(parts(usageOf(`${prompt}${'b'.repeat(400)}`, 800)), [0, 50, 150]);
  assert.deepEqual(parts(usageOf(`${prompt}${'b'.repeat(400)}`, 800, 299_999)), [0, 200, 0]);
  assert.deepEqual(parts(usageOf(prompt, 200, 1_000_000)), [50, 0, 50]);
});

test('cache: a call without an answer leaves no trace', () => {
  const options = { cache: createPromptCache() };
  const request = { promptText: 'a'.repeat(400), cachedPrefixCharacters: 200 };
  plan(request, {}, options);
  assert.equal(plan(request, {}, options).usage.cacheWriteTokens, 50);
});
