import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { measureBest } from '../support/measure-best.ts';
import type { Figure } from './figures.ts';
import { allDeadFigures, cutFigures, deadLanes, lanes, oneDeadFigures } from './outage-figures.ts';

const timeouts = { connectMs: 600, firstByteMs: 1200, idleMs: 1200 };
/** A test machine that does other things too. */
const slackMs = 800;

async function assertMet(measure: () => Promise<readonly Figure[]>): Promise<void> {
  const figures = await measureBest(measure, (all) => all.every(({ isMet }) => isMet));
  for (const { row, what, measured, gate, isMet, examples = [] } of figures) {
    assert.ok(isMet, `${row}, ${what}: ${measured}; expected ${gate}\n${examples.slice(0, 5).join('\n')}`);
  }
}

/** The short form of the reliability table; `npm run test:faults -- --long` is the long one. */
describe('outages under load', () => {
  test('F62, F67: one of two upstreams dies, and no client notices', async () => {
    const options = {
      lanes,
      timeouts,
      perLanePerSecond: 8,
      wellSeconds: 2,
      deadSeconds: 4,
      backSeconds: 9,
      // Of a few dozen calls the slowest is one that found a silent connection.
      addedMsMax: ({ death }) => slackMs + (death === 'stall' || death === 'black-hole' ? timeouts.firstByteMs : timeouts.connectMs),
    } satisfies Parameters<typeof oneDeadFigures>[0];
    await assertMet(() => oneDeadFigures(options));
  });

  test('F40, F67: every upstream is dead: no storm, quick answers, and back at once', async () => {
    const options = {
      lanes: deadLanes,
      timeouts,
      perLanePerSecond: 20,
      deadSeconds: 6,
      knownAfterSeconds: 4,
      backSeconds: 9,
      // Every call is made, once: one that is refused is answered at once, one that nobody answers when its time is over.
      knownAnswerMsMax: ({ death }) => slackMs + (death === 'stall' || death === 'black-hole' ? timeouts.firstByteMs : 0),
      firstAnswerMsMax: 2 * timeouts.firstByteMs + slackMs,
      memoryGrowthBytesMax: 64 * 1024 * 1024,
    } satisfies Parameters<typeof allDeadFigures>[0];
    await assertMet(() => allDeadFigures(options));
  });

  test('F62, F63, F64: a connection cut at any byte is made up for or told', () => assertMet(() => cutFigures({ cutsPerReply: 8 })));
});
