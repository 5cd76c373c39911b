import { describe, test } from 'node:test';

import { assertMet, shortTimeouts as timeouts, slackMs } from './assert-met.ts';
import { allDeadFigures, deadLanes } from './outage-figures.ts';

/**
 * The short form of the reliability table; `npm run test:faults -- --long` is the long form. outages.deep.timing has
 * its other lines.
 */
describe('outages under load', () => {
  test('F40, F67: every upstream is dead, and there is no retry storm, answers are quick, and calls succeed at once after the recovery', async () => {
    const options = {
      lanes: deadLanes,
      timeouts,
      perLanePerSecond: 20,
      deadSeconds: 6,
      knownAfterSeconds: 4,
      backSeconds: 9,
      // Every call is made once: a refused call is answered at once, one without an answer when its time-out ends.
      knownAnswerMsMax: ({ death }) => slackMs + (death === 'stall' || death === 'black-hole' ? timeouts.firstByteMs : 0),
      firstAnswerMsMax: 2 * timeouts.firstByteMs + slackMs,
      memoryGrowthBytesMax: 64 * 1024 * 1024,
    } satisfies Parameters<typeof allDeadFigures>[0];
    await assertMet(() => allDeadFigures(options));
  });
});
