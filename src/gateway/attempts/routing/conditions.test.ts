import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { describeConditions, findUnmetCondition, type TargetConditions } from './conditions.ts';
import { fakeTable, fakeTarget, idsOf, rankFake } from './testing/fake-routing.ts';

const nothing = { images: false, documents: false, audio: false, tools: false };
const call = (more: Partial<typeof nothing> & { readonly stream?: boolean; readonly inputCharacters?: number } = {}) => {
  const { stream = false, inputCharacters = 0, ...features } = more;
  return { dialect: 'openai-chat', facts: { stream, inputCharacters }, features: () => ({ ...nothing, ...features }) } as const;
};

describe('each condition selects calls', () => {
  const rows: readonly [TargetConditions, met: ReturnType<typeof call>, unmet: ReturnType<typeof call> | undefined, words: RegExp][] = [
    [{ images: true }, call({ images: true }), call({ documents: true }), /with images/],
    [{ images: false }, call({ documents: true }), call({ images: true }), /without images/],
    [{ documents: true }, call({ documents: true }), call({ images: true }), /with documents/],
    [{ audio: false }, call({ images: true }), call({ audio: true }), /without audio/],
    [{ tools: true }, call({ tools: true }), call(), /with tools/],
    [{ stream: true }, call({ stream: true }), call(), /stream/],
    [{ stream: false }, call(), call({ stream: true }), /whole/],
    [{ inputTokensMax: 100 }, call({ inputCharacters: 400 }), call({ inputCharacters: 401 }), /at most 100 input tokens.*101/],
    [{ inputTokensMin: 100 }, call({ inputCharacters: 397 }), call({ inputCharacters: 396 }), /at least 100 input tokens.*99/],
    [{ dialects: ['openai-chat', 'openai-responses'] }, call(), undefined, /x/],
    [{ images: true, tools: true }, call({ images: true, tools: true }), call({ images: true }), /with tools/],
  ];
  for (const [when, met, unmet, words] of rows) {
    test(JSON.stringify(when), () => {
      assert.equal(findUnmetCondition(when, met), undefined);
      if (unmet !== undefined) assert.match(findUnmetCondition(when, unmet) ?? '', words);
      assert.notEqual(describeConditions(when), '');
    });
  }

  test('the interface is a condition', () => {
    assert.match(findUnmetCondition({ dialects: ['anthropic-messages'] }, call()) ?? '', /anthropic-messages/);
  });

  test('a request is not searched if no condition needs its features', () => {
    const unread = { ...call(), features: () => assert.fail('it was read') };
    assert.equal(findUnmetCondition({ stream: false, inputTokensMax: 5, dialects: ['openai-chat'] }, unread), undefined);
    assert.match(findUnmetCondition({ stream: true, images: true }, unread) ?? '', /stream/);
  });
});

describe('a model may have conditions', () => {
  const table = fakeTable([
    fakeTarget('vision', { when: { images: true } }),
    fakeTarget('small', { when: { inputTokensMax: 10 } }),
    fakeTarget('large', { when: { inputTokensMin: 11, inputTokensMax: 100 } }),
  ]);
  const withImage = {
    operation: 'generate',
    headers: {},
    body: { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
  } as const;

  test('each call goes where it fits, and never elsewhere', () => {
    assert.deepEqual(idsOf(rankFake(table)), ['small']);
    assert.deepEqual(idsOf(rankFake(table, { facts: { inputCharacters: 44 } })), ['large']);
    assert.deepEqual(idsOf(rankFake(table, { request: withImage })), ['vision', 'small']);
  });

  test('a call that fits nowhere is refused, with the reason for every target', () => {
    assert.throws(
      () => rankFake(table, { facts: { inputCharacters: 4000 } }),
      (error: Error & { code?: string; status?: number; param?: string }) => {
        assert.deepEqual([error.code, error.status, error.param], ['no_suitable_target', 400, 'model']);
        assert.match(
          error.message,
          /vision\/m takes calls with images; small\/m takes calls of at most 10 input tokens \(this one has about 1000\); large/,
        );
        return true;
      },
    );
  });

  test('a single target with conditions must meet them', () => {
    const one = fakeTable([fakeTarget('one', { when: { images: true } })]);
    assert.throws(() => rankFake(one), { code: 'no_suitable_target' });
    assert.deepEqual(idsOf(rankFake(one, { request: withImage })), ['one']);
  });

  test('a refusal does not list very many targets', () => {
    const many = fakeTable(Array.from({ length: 64 }, (_, index) => fakeTarget(`t${index}`, { when: { images: true } })));
    assert.throws(
      () => rankFake(many),
      (error: Error) => error.message.endsWith('; and 56 more') && error.message.length < 1000,
    );
  });
});
