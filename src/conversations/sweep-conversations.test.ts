import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { type TestContext, test } from 'node:test';

import { systemClock } from '../platform/clock.ts';
import { silentLogger } from '../platform/log.ts';
import { startConversationSweeper } from './sweep-conversations.ts';

function setUp(context: TestContext, answers: (number | 'down')[]) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let passes = 0;
  const sweeper = startConversationSweeper({
    store: {
      sweepConversations: async ({ rowsMax }) => {
        const answer = answers[passes] ?? 0;
        passes += 1;
        if (answer === 'down') throw new Error('down');
        return Math.min(answer, rowsMax);
      },
    },
    clock: systemClock,
    logger: silentLogger,
    random: () => 0.5,
  });
  const pass = async (ms: number): Promise<number> => {
    context.mock.timers.tick(ms);
    for (let round = 0; round < 200; round += 1) await setImmediate();
    return passes;
  };
  return { sweeper, pass };
}

test('passes follow each other while there are rows to delete, and then pause', async (context) => {
  const { sweeper, pass } = setUp(context, [200, 200, 3]);
  assert.equal(await pass(1499), 0);
  assert.equal(await pass(1), 3);
  assert.equal(await pass(59_999), 3);
  assert.equal(await pass(1), 4);
  await sweeper.close();
  assert.equal(await pass(600_000), 4);
});

test('many rows are deleted in several rounds, also after an outage', async (context) => {
  const { sweeper, pass } = setUp(context, [...Array.from({ length: 50 }, () => 200), 'down', 1]);
  assert.equal(await pass(1500), 50);
  assert.equal(await pass(1000), 51);
  assert.equal(await pass(59_999), 51);
  assert.equal(await pass(1), 52);
  await sweeper.close();
});
