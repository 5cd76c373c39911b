import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createLimitAnswers } from './answer-limit-questions.ts';

test('a question is answered once, with the number of the question, and after a failure it is read again', async () => {
  const warnings: string[] = [];
  let counted = 0;
  let isDown = false;
  const answers = createLimitAnswers({
    store: { listLimitQuestions: async () => [{ scope: 'key', id: 'k' }] },
    count: async ([owner]) => {
      if (isDown) throw new Error('no answer');
      counted += 1;
      return [{ ...(owner ?? assert.fail()), requests: counted, tokens: 0, concurrency: 0 }];
    },
    logger: { warn: (_fields: object, message: string) => void warnings.push(message) } as never,
  });
  await answers.follow({ limitQuestions: 0 });
  assert.equal(answers.latest(), undefined);
  await answers.follow({ limitQuestions: 7 });
  await answers.follow({ limitQuestions: 7 });
  const first = { answered: 7, uses: [{ scope: 'key', id: 'k', requests: 1, tokens: 0, concurrency: 0 }] };
  assert.deepEqual(answers.latest(), first);
  isDown = true;
  await answers.follow({ limitQuestions: 8 });
  assert.deepEqual([answers.latest(), warnings], [first, ['reading the use of limits failed']]);
  isDown = false;
  await answers.follow({ limitQuestions: 8 });
  assert.equal(answers.latest()?.answered, 8);
});
