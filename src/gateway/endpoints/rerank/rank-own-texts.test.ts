import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readScores, toUnit } from './rank-own-texts.ts';

const result = (index: number, score: number) => ({ index, relevance_score: score });

test('scores are in the order of the texts, and a ranking that lacks one is invalid', () => {
  assert.deepEqual(readScores({ results: [result(2, 0.9), result(0, 0.5), result(1, 0)] }, 3), [0.5, 0, 0.9]);
  for (const results of [undefined, [], [result(0, 0.5)], [result(0, 0.5), { index: 1 }], [result(0, 1), result(5, 1)]])
    assert.equal(readScores(results === undefined ? {} : { results }, 2), undefined);
});

test('raw scores are mapped to the range from 0 to 1 in their order', () => {
  assert.deepEqual(toUnit([0, 0.5, 1]), [0, 0.5, 1]);
  const shares = toUnit([-4, 0, 7]);
  assert.deepEqual(
    shares.toSorted((one, other) => one - other),
    shares,
  );
  assert.ok(shares.every((share) => share > 0 && share < 1));
  assert.equal(shares[1], 0.5);
});
