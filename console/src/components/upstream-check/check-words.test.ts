import assert from 'node:assert/strict';
import { test } from 'node:test';

import { quirkOf, readCheck, remarksOf } from './check-words.ts';

const row = (title: string, results: Parameters<typeof remarksOf>[0][number]['results']) => ({
  upstream: 'a',
  model: 'm',
  dialect: title,
  title,
  results,
});
const lost = { verdict: 'bad', says: 'no usage', advice: 'set quirks: { streamOptions: false } for upstream a in weir.yaml' } as const;

test('a check that runs has its step and its cells, and one that has ended its verdict and all findings', () => {
  const matrix = [row('Messages', [{ check: 'reply', verdict: 'good' }])];
  const running = readCheck({ progress: { partial: { step: 'a: connecting', matrix } }, result: null });
  assert.deepEqual(running, { step: 'a: connecting', isHealthy: undefined, findings: [], matrix });
  const finding = { verdict: 'good', subject: 'TCP', says: 'accepts connections' };
  const ended = readCheck({ progress: null, result: { is_healthy: true, credentials: [{ title: 'a#2', findings: [finding], matrix }] } });
  assert.deepEqual(ended, { step: undefined, isHealthy: true, findings: [{ ...finding, title: 'a#2' }], matrix });
  assert.deepEqual(readCheck({ progress: null, result: null }).matrix, []);
});

test('a sentence of several cells is said once, and what is bad comes first', () => {
  const none = { check: 'count', verdict: 'none', says: 'no counter' } as const;
  const remarks = remarksOf([
    row('Messages', [none, { check: 'stream-usage', ...lost }]),
    row('Chat completions', [
      { check: 'usage', ...lost },
      { check: 'reply', verdict: 'good' },
    ]),
  ]);
  assert.deepEqual(
    remarks.map(({ verdict, checks, rows }) => [verdict, checks, rows]),
    [
      ['bad', ['usage~', 'usage'], ['Messages', 'Chat completions']],
      ['none', ['count'], ['Messages']],
    ],
  );
});

test('the quirk of an advice is its setting', () => {
  assert.equal(quirkOf(lost.advice), 'streamOptions: false');
  assert.equal(quirkOf('is that address right?'), undefined);
});
