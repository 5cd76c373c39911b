import { after, before, describe, test } from 'node:test';

import { allModes } from './fault-bench.ts';
import { afterContent, beforeContent, refusals, tooLarge } from './fault-rows.ts';
import {
  assertHonest,
  assertInvisible,
  assertRefused,
  assertTooLarge,
  casesInTurn,
  startTwoTargets,
  type TwoTargets,
} from './two-targets.ts';

/** Most of them wait until a time-out ends. */
const waitingAtOnce = 24;

const invisible = casesInTurn(beforeContent, allModes);
const honest = casesInTurn(afterContent, allModes);
const refused = casesInTurn(refusals, allModes);
const large = casesInTurn(tooLarge, allModes);

/** The upstream fault table: every way in which a model's first target fails, while a second one is healthy. */
describe('one of two targets fails', () => {
  let bench: TwoTargets;
  before(async () => {
    bench = await startTwoTargets([...invisible, ...honest, ...refused, ...large]);
  });
  after(() => bench[Symbol.asyncDispose]());

  describe('F31, F62, F63, F66, F91, before content: the client does not notice', { concurrency: waitingAtOnce }, () => {
    for (const which of invisible) {
      test(`${which.row.name}, ${which.mode.title}`, async () => assertInvisible(which, await bench.run(which)));
    }
  });

  describe('F41, after content: the client gets an error, and there is no retry', { concurrency: waitingAtOnce }, () => {
    for (const which of honest) test(`${which.row.name}, ${which.mode.title}`, async () => assertHonest(which, await bench.run(which)));
  });

  describe("the caller's mistakes are reported unchanged", { concurrency: waitingAtOnce }, () => {
    for (const which of refused) test(`${which.row.name}, ${which.mode.title}`, async () => assertRefused(which, await bench.run(which)));
  });

  describe('answers that are too large are not requested again', { concurrency: waitingAtOnce }, () => {
    for (const which of large) test(`${which.row.name}, ${which.mode.title}`, async () => assertTooLarge(which, await bench.run(which)));
  });

  test('afterwards the gateway is healthy', () => bench.assertSound());
});
