import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { fitCallId, fitCallIdToNine } from './call-ids.ts';
import { createFakeTraits, type TraitDifferences } from './testing/fake-traits.ts';
import type { ReasoningRequest } from './inference-request.ts';
import { type Proof, readProof, unwrapProof, wrapProof, writeProof } from './proof.ts';
import { type FittedReasoning, fitReasoning } from './reasoning-scale.ts';
import { parseToolArguments, repairToolArguments } from './tool-arguments.ts';
import { fitToolNames } from './tool-names.ts';
import { contentFromObject, resultObject, resultText } from './tool-results.ts';
import { createTranslationNotes, type FieldNames } from './translation-notes.ts';

const names: FieldNames = { reasoning: 'thinking', topK: 'top_k' } as FieldNames;

describe('proofs in the fields of other dialects', () => {
  const proof: fc.Arbitrary<Proof> = fc.record(
    { origin: fc.string(), blob: fc.string({ unit: 'grapheme' }), hidden: fc.constant(true) },
    { requiredKeys: ['origin', 'blob'], noNullPrototype: true },
  );
  test('a proof in a field of another dialect is restored byte for byte', () => {
    fc.assert(fc.property(proof, (any) => assert.deepEqual(unwrapProof(wrapProof(any)), any)));
  });
  test('a native proof is sent as it is, a foreign one is wrapped', () => {
    assert.equal(writeProof({ origin: 'here', blob: 'abc' }, 'here'), 'abc');
    assert.deepEqual(readProof('abc', 'here'), { origin: 'here', blob: 'abc' });
    assert.deepEqual(readProof(writeProof({ origin: 'there', blob: 'abc' }, 'here'), 'here'), { origin: 'there', blob: 'abc' });
  });
  test('a damaged proof is not recognised as ours', () => {
    for (const text of ['gw1.', 'gw1.!!!', `gw1.${Buffer.from('{}').toString('base64url')}`, 'gw1', ''])
      assert.equal(unwrapProof(text), undefined);
  });
});

describe('names of functions', () => {
  const rules = { pattern: /[a-zA-Z0-9_-]/, firstPattern: /[a-zA-Z_]/, charactersMax: 64 };
  test('names of functions that fit are unchanged', () => {
    const fitted = fitToolNames(['look_up', 'Read-File'], rules);
    assert.equal(fitted.toWireName('look_up'), 'look_up');
    assert.equal(fitted.renamed.size, 0);
  });
  test('names of functions that do not fit are mapped to different names and back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90, unit: 'grapheme' }), { maxLength: 8 }), (names) => {
        const { toWireName, renamed } = fitToolNames(names, rules);
        const sent = names.map(toWireName);
        for (const name of sent) assert.match(name, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
        assert.equal(new Set(sent).size, names.length);
        assert.deepEqual(
          sent.map((name) => renamed.get(name) ?? name),
          names,
        );
      }),
    );
  });
});

test('ids of calls that fit are unchanged; others become the same digest every time', () => {
  const rules = { pattern: /^[a-zA-Z0-9_-]+$/, charactersMax: 64 };
  assert.equal(fitCallId('toolu_1', rules), 'toolu_1');
  const fitted = fitCallId('functions.look:0', rules);
  assert.match(fitted, /^call_[0-9a-f]{24}$/);
  assert.equal(fitCallId('functions.look:0', rules), fitted);
  assert.notEqual(fitCallId('functions.look:1', rules), fitted);
});

describe('arguments of calls', () => {
  test('arguments of calls are an object, never a string (hass-agent-llm#42)', () => {
    assert.deepEqual(parseToolArguments(''), {});
    assert.deepEqual(parseToolArguments('{"a":1}'), { a: 1 });
    assert.deepEqual(parseToolArguments('"{\\"a\\":1}"'), { a: 1 });
    for (const text of ['[1]', '3', '"x"', '{"a":', 'null']) assert.equal(parseToolArguments(text), undefined, text);
  });
  test('arguments that an upstream broke keep their text', () => assert.deepEqual(repairToolArguments('{"a":'), { _raw: '{"a":' }));
});

describe('results of calls', () => {
  const result = (text: string, isError = false) => ({
    kind: 'tool-result' as const,
    callId: 'c',
    content: [{ kind: 'text' as const, text }],
    isError,
  });
  test('results become objects: JSON objects as they are, other text under result, errors under error', () => {
    assert.deepEqual(resultObject(result('{"a":1}')), { a: 1 });
    assert.deepEqual(resultObject(result('[1,2]')), { result: [1, 2] });
    assert.deepEqual(resultObject(result('007')), { result: '007' });
    assert.deepEqual(resultObject(result('{broken')), { result: '{broken' });
    assert.deepEqual(resultObject(result('no', true)), { error: 'no' });
  });
  test('result objects become the same text again', () => {
    assert.equal(contentFromObject({ result: 'plain' }), 'plain');
    assert.equal(contentFromObject({ output: [1] }), '[1]');
    assert.equal(contentFromObject({ result: 1, more: 2 }), '{"result":1,"more":2}');
  });
  test('an error result becomes text that says it is an error', () => assert.equal(resultText(result('no', true)), 'Error: no'));
});

describe('effort against budget', () => {
  type Row = readonly [request: ReasoningRequest | undefined, traits: TraitDifferences, fitted: FittedReasoning, notes?: readonly string[]];
  const rows: readonly Row[] = [
    [undefined, {}, { kind: 'default' }],
    [{ mode: 'on', budgetTokens: 5000 }, {}, { kind: 'budget', tokens: 5000 }],
    [{ mode: 'on', effort: 'high' }, {}, { kind: 'budget', tokens: 16_384 }],
    [{ mode: 'on' }, {}, { kind: 'budget', tokens: 8192 }],
    [{ mode: 'auto' }, {}, { kind: 'default' }],
    [{ mode: 'on', budgetTokens: 5000 }, { reasoning: 'effort' }, { kind: 'effort', effort: 'medium' }],
    [{ mode: 'on', budgetTokens: 1000 }, { reasoning: 'effort' }, { kind: 'effort', effort: 'minimal' }],
    [{ mode: 'on', budgetTokens: 1024 }, { reasoning: 'effort' }, { kind: 'effort', effort: 'low' }],
    [{ mode: 'on', budgetTokens: 2048 }, { reasoning: 'effort' }, { kind: 'effort', effort: 'low' }],
    [{ mode: 'on', budgetTokens: 500_000 }, { reasoning: 'effort' }, { kind: 'effort', effort: 'max' }],
    [
      { mode: 'on', effort: 'max' },
      { reasoning: 'effort', efforts: ['low', 'high'] },
      { kind: 'effort', effort: 'high' },
      ['adapted thinking'],
    ],
    [{ mode: 'off' }, {}, { kind: 'off' }],
    [{ mode: 'on', effort: 'none' }, { reasoning: 'effort' }, { kind: 'off' }],
    [{ mode: 'off' }, { alwaysReasons: true }, { kind: 'budget', tokens: 1024 }, ['adapted thinking']],
    [
      { mode: 'off' },
      { alwaysReasons: true, reasoning: 'effort', efforts: ['low', 'high'] },
      { kind: 'effort', effort: 'low' },
      ['adapted thinking'],
    ],
    [{ mode: 'on', effort: 'low' }, { reasoning: 'none' }, { kind: 'default' }, ['dropped thinking']],
    [{ mode: 'off' }, { reasoning: 'none' }, { kind: 'default' }],
  ];
  for (const [request, traits, fitted, noted] of rows) {
    test(`${JSON.stringify(request)} for ${JSON.stringify(traits)}`, () => {
      const notes = createTranslationNotes(names, false);
      assert.deepEqual(fitReasoning(request, createFakeTraits({ reasoning: 'budget' }, traits), notes), fitted);
      assert.deepEqual(
        notes.list().map(({ kind, field }) => `${kind} ${field}`),
        noted ?? [],
      );
    });
  }
});

describe('notes', () => {
  test('notes name the field as the client spells it, once', () => {
    const notes = createTranslationNotes(names, false);
    notes.dropped('topK', 'none there');
    notes.dropped('topK', 'none there');
    notes.adapted({ path: 'messages.1', otherwise: 'turns' }, 'moved');
    assert.deepEqual(notes.list(), [
      { kind: 'dropped', field: 'top_k', reason: 'none there' },
      { kind: 'adapted', field: 'messages.1', reason: 'moved' },
    ]);
  });
  test('in strict translation, a drop is a 400 that names the field, and an adaptation is not', () => {
    const notes = createTranslationNotes(names, true);
    notes.adapted('topK', 'clamped');
    assert.throws(() => notes.dropped('topK', 'none there'), { code: 'untranslatable_field', status: 400, param: 'top_k' });
  });
  test('the number of notes is bounded', () => {
    const notes = createTranslationNotes(names, false);
    for (let at = 0; at < 1000; at++) notes.dropped({ path: `messages.${at}`, otherwise: 'turns' }, 'lost');
    assert.equal(notes.list().length, 32);
  });
});

test('an id of nine letters and digits is kept, and any other always becomes the same one', () => {
  fc.assert(
    fc.property(fc.string(), (id) => {
      const fitted = fitCallIdToNine(id);
      assert.match(fitted, /^[A-Za-z0-9]{9}$/);
      assert.equal(fitCallIdToNine(id), fitted);
      assert.equal(fitCallIdToNine(fitted), fitted);
    }),
  );
  const ids = Array.from({ length: 20_000 }, (_, index) => fitCallIdToNine(`call_${index}`));
  assert.equal(new Set(ids).size, ids.length);
});
