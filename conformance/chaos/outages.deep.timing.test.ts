import { describe, test } from 'node:test';

import { usualOrLong } from '../support/scale.ts';
import { assertMet, shortTimeouts as timeouts, slackMs } from './assert-met.ts';
import { cutFigures, lanes, oneDeadFigures } from './outage-figures.ts';

/** The short form of the reliability table; `npm run test:faults -- --long` is the long form. */
describe('outages under load', () => {
  test('F62, F67: one of two upstreams dies, and no client notices', async () => {
    const options = {
      lanes,
      timeouts,
      perLanePerSecond: 8,
      wellSeconds: 2,
      deadSeconds: 4,
      backSeconds: 9,
      // Among a few dozen calls, the slowest found a silent connection.
      addedMsMax: ({ death }) => slackMs + (death === 'stall' || death === 'black-hole' ? timeouts.firstByteMs : timeouts.connectMs),
    } satisfies Parameters<typeof oneDeadFigures>[0];
    await assertMet(() => oneDeadFigures(options));
  });

  test('F62, F63, F64: a connection cut at any byte is replaced or reported as an error', () =>
    assertMet(() => cutFigures({ cutsPerReply: usualOrLong(4, 8) })));
});
