import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { readAltFraming, readGenerateContentPath, readRequestTarget } from './read-request.ts';

describe('a request target is a path with a query', () => {
  test('only a path is valid: a gateway is not a forward proxy', () => {
    for (const url of ['http://elsewhere.example/v1/messages', '*', '', 'elsewhere.example:443', '?key=1'])
      assert.equal(readRequestTarget(url), undefined, url);
  });

  test('the path stays as it was sent, and the query is read', () => {
    const target = readRequestTarget('/v1/a%2Fb/?x=1&y=%20&x=2?');
    assert.equal(target?.path, '/v1/a%2Fb/');
    assert.deepEqual(
      [...target.query],
      [
        ['x', '1'],
        ['y', ' '],
        ['x', '2?'],
      ],
    );
    assert.deepEqual(target.queryKeys, []);
  });

  test('key-in-the-query: the key is removed, in any spelling and number', () => {
    const target = readRequestTarget('/v1beta/models?key=one&alt=sse&%6bey=tw%6F&KEY=other');
    assert.deepEqual(target?.queryKeys, ['one', 'two']);
    assert.equal(target.query.toString(), 'alt=sse&KEY=other');
    assert.equal(target.path, '/v1beta/models');
  });

  test('requests without a query share no object that another changed', () => {
    assert.deepEqual([...(readRequestTarget('/a')?.query ?? [])], []);
    assert.deepEqual([...(readRequestTarget('/a?')?.query ?? [])], []);
  });
});

describe('the rest of a generate-content path names a model and an action', () => {
  for (const [rest, model, action] of [
    ['gemini-x:generateContent', 'gemini-x', 'generateContent'],
    ['gemini-x%3AgenerateContent', 'gemini-x', 'generateContent'],
    ['gemini-x%3astreamGenerateContent', 'gemini-x', 'streamGenerateContent'],
    ['models/gemini-x:countTokens', 'gemini-x', 'countTokens'],
    ['models%2Fgemini-x:countTokens', 'gemini-x', 'countTokens'],
    ['gemini-x', 'gemini-x', undefined],
    ['vendor/model:8b:generateContent', 'vendor/model:8b', 'generateContent'],
    [':generateContent', '', 'generateContent'],
    ['gemini-x:', 'gemini-x', ''],
    ['', '', undefined],
  ] as const) {
    test(`"${rest}"`, () => assert.deepEqual(readGenerateContentPath(rest), { model, action }));
  }

  test('an invalid percent-encoding names no model', () => {
    for (const rest of ['%', 'gemini%zz:generateContent', '%ff', 'gemini-x%3'])
      assert.equal(readGenerateContentPath(rest), undefined, rest);
  });
});

test('a stream is server-sent events if alt says so, and otherwise one array', () => {
  for (const [query, framing] of [
    ['alt=sse', 'sse'],
    ['$alt=sse', 'sse'],
    ['%24alt=sse', 'sse'],
    ['alt=json', 'json-array'],
    ['alt=json&$alt=sse', 'json-array'],
    ['alt=', 'json-array'],
    ['', 'json-array'],
  ] as const)
    assert.equal(readAltFraming(new URLSearchParams(query)), framing, query);
});
