import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerFromTools, planToolCalls } from './play-tools.ts';
import type { PlanRequest } from './simulated-vendor.ts';

const text = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const list = { type: 'object', properties: { urls: { type: 'array', items: { type: 'string' } } }, required: ['urls'] };

function ask(question: string, members: Partial<PlanRequest> = {}): PlanRequest {
  return {
    model: 'm',
    promptText: question,
    lastUserText: question,
    mediaCount: 0,
    tools: [
      { name: 'web_search', schema: text },
      { name: 'file_search', schema: text },
      { name: 'run_python', schema: { type: 'object', properties: { code: { type: 'string' } } } },
      { name: 'read_pages', schema: list },
    ],
    toolChoice: 'auto',
    parallelToolCalls: true,
    answersToolResult: false,
    stopSequences: [],
    cachedPrefixCharacters: 0,
    cacheLifetime: '5m',
    ...members,
  };
}

const questions: readonly (readonly [question: string, calls: readonly (readonly [name: string, args: object])[]])[] = [
  ['Search the web for the height of Mont Blanc.', [['web_search', { query: 'the height of Mont Blanc' }]]],
  ['Look in my files: what does the contract say?', [['file_search', { query: 'Look in my files: what does the contract say' }]]],
  ['Please compute 6*7', [['run_python', { code: 'print(6*7)' }]]],
  ['Run python: print(1)\nprint(2)', [['run_python', { code: 'print(1)\nprint(2)' }]]],
  ['What stands on https://example.org/a?', [['read_pages', { urls: ['https://example.org/a'] }]]],
  ['Hello', []],
];

for (const [question, calls] of questions) {
  test(`the tool for the question is called: ${question.split('\n')[0]}`, () => {
    assert.deepEqual(
      planToolCalls(ask(question), () => ({}))?.map(({ name, arguments: args }) => [name, args]),
      calls,
    );
  });
}

test('functions for other purposes are not called', () => {
  assert.equal(
    planToolCalls(ask('Search it', { tools: [{ name: 'get_weather', schema: text }] }), () => ({})),
    undefined,
  );
});

test('the answer names the sources of the results, and not those of an example', () => {
  const question = 'Search the web for cats';
  const promptText = `Cite like this.【3】\n${question}\nweb_search {"query":"cats"}\n【1】 Cats\nhttps://example.org\nCats purr.\n\n【2】 Dogs bark.`;
  const answer = answerFromTools(ask(question, { promptText, answersToolResult: true }));
  assert.equal(answer, 'Here is what I found. Cats purr.【1】 Dogs bark.【2】');
});

test('sources in elements are quoted by their text, not by their markup', () => {
  const question = 'Search the web for cats';
  const element = '<source number="【4】" title="Cats" url="https://example.org">\nCats purr. They sleep.\n</source>';
  for (const result of [element, JSON.stringify(element)]) {
    const promptText = `${question}\nweb_search {"query":"cats"}\nWrite the number of a source, such as 【1】, behind it.\n${result}`;
    const answer = answerFromTools(ask(question, { promptText, answersToolResult: true }));
    assert.equal(answer, 'Here is what I found. Cats purr. They sleep.【4】');
  }
});

test('the JSON around a passage is not quoted', () => {
  const question = 'Search my files for cats';
  const promptText = `${question}\n${JSON.stringify({ result: '【1】 cats.md\nCats "purr".' })}`;
  const answer = answerFromTools(ask(question, { promptText, answersToolResult: true }));
  assert.equal(answer, 'Here is what I found. Cats "purr".【1】');
});

test('sources between tags are quoted by their text, in plain results and in results inside JSON', () => {
  const question = 'Search the web for cats';
  const results =
    'Write the number of a source, such as 【1】, behind it.\n<source number="【4】" title="Cats" url="https://example.org/">\nCats purr.\n</source>';
  for (const written of [results, JSON.stringify({ results })]) {
    const promptText = `${question}\nweb_search {"query":"cats"}\n${written}`;
    const answer = answerFromTools(ask(question, { promptText, answersToolResult: true }));
    assert.equal(answer, 'Here is what I found. Cats purr.【4】');
  }
});
