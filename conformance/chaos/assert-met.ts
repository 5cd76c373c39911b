import assert from 'node:assert/strict';

import { measureBest } from '../support/measure-best.ts';
import type { Figure } from './figures.ts';

/** The time-outs of the short forms, which end the wait for silent upstreams early. */
export const shortTimeouts = { connectMs: 600, firstByteMs: 1200, idleMs: 1200 };
/** Tolerance for a test machine with other load. */
export const slackMs = 800;

/** Measures, repeats the measurement if a bound is missed, and names the missed bounds. */
export async function assertMet(measure: () => Promise<readonly Figure[]>): Promise<void> {
  const figures = await measureBest(measure, (all) => all.every(({ isMet }) => isMet));
  for (const { row, what, measured, gate, isMet, examples = [] } of figures) {
    assert.ok(isMet, `${row}, ${what}: ${measured}; expected ${gate}\n${examples.slice(0, 5).join('\n')}`);
  }
}
