import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { fuzzParser, openParsers } from './fuzz-parsers.ts';

const cases = 60;
/** A machine that is busy with other tests reads complete files in this time. */
const limitMs = 3000;
/** Processor time between two turns of the event loop, to which other tests of the machine add nothing. */
const busyMsMax = 250;

describe('F95: broken files of every kind, the short form of npm run test:fuzz', () => {
  const { parsers, close } = openParsers(limitMs);
  after(close);

  for (const [name, parser] of Object.entries(parsers))
    test(`${name}: the process survives, its event loop runs, and every case ends`, async () => {
      const report = await fuzzParser(name, parser, cases, 1);
      assert.equal(report.read + report.refused + report.ended, cases);
      assert.ok(report.read > 0, 'no file was parsed, so the seed files are already broken');
      assert.ok(report.busiestMs < busyMsMax, JSON.stringify(report));
    });
});
