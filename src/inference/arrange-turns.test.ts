import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { arrangeTurns, type TurnRules } from './arrange-turns.ts';
import type { Part, Turn } from './inference-request.ts';
import { createTranslationNotes, type FieldNames } from './translation-notes.ts';

const fieldNames = { turns: 'messages' } as FieldNames;
const strict: TurnRules = { alternate: true, startsWithUser: true, systemTurns: 'as-user' };
const loose: TurnRules = { alternate: false, startsWithUser: false, systemTurns: 'keep' };

const text = (content: string): Part => ({ kind: 'text', text: content });
const user = (...parts: Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: Part[]): Turn => ({ role: 'assistant', parts });
const call = (id: string, name = 'look'): Part => ({ kind: 'tool-call', id, name, arguments: '{}', path: `calls.${id}` });
const result = (callId: string, text = callId): Part => ({
  kind: 'tool-result',
  callId,
  content: [{ kind: 'text', text }],
  isError: false,
  path: `results.${callId}`,
});

/** Arranges a conversation and writes it in short: `user: text; result(a)`. */
function arrange(turns: readonly Turn[], rules: TurnRules = strict) {
  const notes = createTranslationNotes(fieldNames, false);
  const arranged = arrangeTurns(turns, rules, notes).map((turn) => {
    const parts = turn.parts.map((part) => {
      if (part.kind === 'tool-call') return `call(${part.id})`;
      if (part.kind === 'tool-result') return `${part.isError ? 'failed' : 'result'}(${part.callId},${part.name ?? '?'})`;
      return part.kind === 'text' ? part.text : part.kind;
    });
    return `${turn.role}: ${parts.join('; ')}`;
  });
  return { arranged, notes: notes.list().map(({ kind, field }) => `${kind} ${field}`) };
}

describe('turns are put into the order that strict vendors require', () => {
  const cases: readonly (readonly [name: string, turns: readonly Turn[], arranged: readonly string[], notes?: readonly string[]])[] = [
    ['a plain conversation stays as it is', [user(text('a')), assistant(text('b'))], ['user: a', 'assistant: b']],
    [
      'calls of one turn with one id get different ids, and so do their results',
      [
        user(text('a')),
        assistant(call('c'), call('c_2'), call('c'), call('c')),
        user(result('c', '1'), result('c_2'), result('c', '2'), result('c', '3')),
      ],
      [
        'user: a',
        'assistant: call(c); call(c_2); call(c_3); call(c_4)',
        'user: result(c,look); result(c_2,look); result(c_3,look); result(c_4,look)',
      ],
    ],
    ['neighbours of one role become one turn', [user(text('a')), user(text('b'))], ['user: a; b']],
    [
      'an assistant first gets a neutral user turn before it',
      [assistant(text('a')), user(text('b'))],
      ['user: .', 'assistant: a', 'user: b'],
      ['adapted messages'],
    ],
    ['empty text is left out (anthropics/claude-code#50082, vercel/eve#2753)', [user(text(''), text('a'))], ['user: a']],
    ['a turn that is empty without it is left out', [user(text('a')), assistant(text('')), user(text('b'))], ['user: a; b']],
    [
      'system text in mid-conversation becomes a marked user turn',
      [user(text('a')), { role: 'system', parts: [text('now French')] }],
      ['user: a; <system>now French</system>'],
      ['adapted messages'],
    ],
    [
      'results of parallel calls are one user turn in the order of the calls, and what the user says comes after',
      [user(text('q')), assistant(call('a'), call('b')), user(result('b')), user(result('a'), text('and?'))],
      ['user: q', 'assistant: call(a); call(b)', 'user: result(a,look); result(b,look); and?'],
    ],
    [
      'results written as several turns become one (MoonshotAI/kosong#45, Portkey-AI/gateway#980)',
      [user(text('q')), assistant(call('a'), call('b')), user(result('a')), user(result('b'))],
      ['user: q', 'assistant: call(a); call(b)', 'user: result(a,look); result(b,look)'],
    ],
    [
      'a call without a result gets one that says so',
      [user(text('q')), assistant(call('a')), user(text('never mind'))],
      ['user: q', 'assistant: call(a)', 'user: failed(a,look); never mind'],
      ['adapted calls.a'],
    ],
    [
      'a result that comes late goes to its call, before the text in between (gptme/gptme#3847)',
      [user(text('q')), assistant(call('a')), user(text('wait')), assistant(text('ok')), user(result('a'))],
      ['user: q', 'assistant: call(a)', 'user: result(a,look); wait', 'assistant: ok'],
    ],
  ];
  for (const [name, turns, arranged, notes] of cases) {
    test(name, () => {
      const outcome = arrange(turns);
      assert.deepEqual(outcome.arranged, arranged);
      assert.deepEqual(outcome.notes, notes ?? []);
    });
  }

  test('a result without a call is refused, and the refusal names its path', () => {
    assert.throws(() => arrange([user(result('x'))]), { code: 'untranslatable_field', param: 'results.x' });
  });

  test('an id that a later turn uses again is matched in order', () => {
    const turns = [user(text('q')), assistant(call('a')), user(result('a', 'one')), assistant(call('a')), user(result('a', 'two'))];
    const notes = createTranslationNotes(fieldNames, false);
    const results = arrangeTurns(turns, strict, notes).flatMap((turn) => turn.parts.filter((part) => part.kind === 'tool-result'));
    assert.deepEqual(
      results.map((part) => part.content[0]?.kind === 'text' && part.content[0].text),
      ['one', 'two'],
    );
  });
});

test('if turns need not alternate, speakers are kept apart and system text stays in place', () => {
  const turns: readonly Turn[] = [assistant(text('a')), user(text('b')), user(text('c')), { role: 'system', parts: [text('s')] }];
  assert.deepEqual(arrange(turns, loose), { arranged: ['assistant: a', 'user: b', 'user: c', 'system: s'], notes: [] });
});
