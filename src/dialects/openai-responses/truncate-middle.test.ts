import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import type { JsonObject } from '../../platform/json/json-value.ts';
import { fitContext } from './fit-context.ts';
import { dropMiddle } from './truncate-middle.ts';
import { threadMs } from '../../platform/thread-ms.ts';

const user = (id: string): JsonObject => ({ type: 'message', role: 'user', id, content: 'u' });
const assistant = (id: string): JsonObject => ({ type: 'message', role: 'assistant', id, content: [] });
const system = (id: string): JsonObject => ({ role: 'system', id, content: 's' });
const reasoning = (id: string): JsonObject => ({ type: 'reasoning', id, summary: [] });

/** Kinds of calls. The names of their results are derived from them. */
const kinds = ['function_call', 'custom_tool_call', 'computer_call', 'local_shell_call', 'apply_patch_call'];

type Step =
  | { readonly kind: 'system' }
  | { readonly kind: 'user' }
  | { readonly kind: 'assistant' }
  | { readonly kind: 'calls'; readonly types: readonly string[]; readonly thinks: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom<Step>({ kind: 'system' }, { kind: 'user' }, { kind: 'assistant' }),
  fc
    .record({ types: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 3 }), thinks: fc.boolean() })
    .map((calls): Step => ({ kind: 'calls', ...calls })),
);

function layOut(steps: readonly Step[]): readonly JsonObject[] {
  let last = 0;
  return steps.flatMap((one): readonly JsonObject[] => {
    const id = `i${++last}`;
    if (one.kind === 'system') return [system(id)];
    if (one.kind === 'user') return [user(id)];
    if (one.kind === 'assistant') return [assistant(id)];
    const calls = one.types.map((type, at) => ({ type, id: `${id}c${at}`, call_id: `${id}k${at}` }));
    const results = calls.map(({ type, call_id: callId }) => ({ type: `${type}_output`, call_id: callId }));
    return [...(one.thinks ? [reasoning(`${id}r`)] : []), ...calls, ...results];
  });
}

const conversation = fc.array(step, { minLength: 1, maxLength: 30 }).map(layOut);

const countTokens = (): number => 1;

describe('truncation', () => {
  test('keeps the limit, the order and the required items', () => {
    fc.assert(
      fc.property(conversation, fc.nat(60), (items, tokensMax) => {
        const truncated = dropMiddle(items, { tokensMax, countTokens });
        const retained = truncated.items;
        assert.equal(truncated.fits, retained.length <= tokensMax);
        assert.equal(retained.length + truncated.dropped, items.length);
        assert.deepEqual(
          retained,
          items.filter((item) => retained.includes(item)),
        );
        for (const item of items) if (item.role === 'system') assert.ok(retained.includes(item));
        const userMessages = items.filter(({ role }) => role === 'user');
        for (const item of [userMessages[0], userMessages.at(-1), items.at(-1)]) if (item !== undefined) assert.ok(retained.includes(item));
      }),
    );
  });

  test('a call is dropped together with its result, and reasoning with the items that it led to', () => {
    fc.assert(
      fc.property(conversation, fc.nat(60), (items, tokensMax) => {
        const retained = dropMiddle(items, { tokensMax, countTokens }).items;
        for (const [index, item] of items.entries()) {
          const partners = items.filter((other) => other !== item && item.call_id !== undefined && other.call_id === item.call_id);
          for (const partner of partners) assert.equal(retained.includes(item), retained.includes(partner));
          const next = items[index + 1];
          if (item.type === 'reasoning' && next !== undefined) assert.equal(retained.includes(item), retained.includes(next));
        }
      }),
    );
  });

  test('a conversation that fits stays unchanged, and the newest items stay longest', () => {
    const items = [system('s'), user('1'), assistant('2'), user('3'), assistant('4'), user('5')];
    assert.equal(dropMiddle(items, { tokensMax: 6, countTokens }).items, items);
    assert.deepEqual(dropMiddle(items, { tokensMax: 5, countTokens }).droppedIds, ['2']);
    assert.deepEqual(dropMiddle(items, { tokensMax: 3, countTokens }).droppedIds, ['2', '3', '4']);
    assert.equal(dropMiddle(items, { tokensMax: 2, countTokens }).fits, false);
  });

  test('a long run of tools is cut in its middle, not at its last step', () => {
    const items = layOut([
      { kind: 'user' },
      ...Array.from({ length: 50 }, (): Step => ({ kind: 'calls', types: ['function_call'], thinks: true })),
    ]);
    const retained = dropMiddle(items, { tokensMax: 10, countTokens }).items;
    assert.equal(retained.length, 10);
    assert.deepEqual(retained[0], items[0]);
    assert.deepEqual(retained.slice(-3), items.slice(-3));
  });

  test('ten thousand items are truncated within two seconds', () => {
    const items = layOut(Array.from({ length: 10_000 }, (_, at): Step => ({ kind: at % 2 === 0 ? 'user' : 'assistant' })));
    const startMs = threadMs();
    assert.equal(dropMiddle(items, { tokensMax: 100, countTokens }).items.length, 100);
    assert.ok(threadMs() - startMs < 2000);
  });
});

describe('fitContext', () => {
  const words = (count: number): string => 'the quick brown fox jumps over it '.repeat(count);
  const talk = (turns: number): readonly JsonObject[] =>
    Array.from({ length: turns }, (_, at) => ({
      type: 'message',
      role: at % 2 === 0 ? 'user' : 'assistant',
      id: `m${at}`,
      content: words(20),
    }));

  test('accepts a request that fits', async () => {
    for (const truncation of ['auto', 'disabled'])
      assert.deepEqual(await fitContext({ input: talk(5), truncation }, { contextTokensMax: 100_000 }), { kind: 'fits' });
    assert.deepEqual(await fitContext({ input: 'Hi' }, { contextTokensMax: 8192 }), { kind: 'fits' });
  });

  test('drops the middle with truncation auto if the estimate is too long', async () => {
    const fit = await fitContext({ input: talk(101), truncation: 'auto', model: 'm' }, { contextTokensMax: 8000, outputTokensMax: 1000 });
    assert.ok(fit.kind === 'truncated');
    assert.equal(fit.body.model, 'm');
    assert.ok(fit.dropped > 50 && fit.dropped < 100);
    assert.equal((fit.body.input as readonly JsonObject[])[0]?.id, 'm0');
    assert.equal((fit.body.input as readonly JsonObject[]).at(-1)?.id, 'm100');
  });

  test('refuses a request without truncation only if it is certainly too long', async () => {
    assert.deepEqual(await fitContext({ input: talk(60) }, { contextTokensMax: 8000 }), { kind: 'fits' });
    const long = await fitContext({ input: talk(1000) }, { contextTokensMax: 8000 });
    assert.ok(long.kind === 'too-long' && long.tokensMin > 8000 && long.tokensMax === 8000);
  });

  test('refuses by the estimate if the operator has configured the window', async () => {
    const own = { contextTokensMax: 8000, refusesEstimate: true };
    const long = await fitContext({ input: talk(60) }, own);
    assert.ok(long.kind === 'too-long' && long.isEstimate === true && long.tokensMin > 8000);
    assert.deepEqual(await fitContext({ input: talk(40) }, own), { kind: 'fits' });
    assert.equal((await fitContext({ input: talk(60), truncation: 'auto' }, own)).kind, 'truncated');
  });

  test('accepts blanks and files, whose tokens are unknown', async () => {
    const file = { role: 'user', content: [{ type: 'input_file', file_data: 'A'.repeat(2_000_000) }] };
    assert.equal((await fitContext({ input: [file] }, { contextTokensMax: 8000 })).kind, 'fits');
    assert.equal((await fitContext({ input: ' '.repeat(2_000_000) }, { contextTokensMax: 8000 })).kind, 'fits');
  });

  test('reports a single turn that is too long, with truncation too', async () => {
    assert.equal(
      (await fitContext({ input: [{ role: 'user', content: words(20_000) }], truncation: 'auto' }, { contextTokensMax: 8000 })).kind,
      'too-long',
    );
  });
});
