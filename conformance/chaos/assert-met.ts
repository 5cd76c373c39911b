import assert from 'node:assert/strict';

import { measureBest } from '../support/measure-best.ts';
import type { Figure } from './figures.ts';

/** The time-outs of the short forms, in which upstreams that say nothing are given up soon. */
export const shortTimeouts = { connectMs: 600, firstByteMs: 1200, idleMs: 1200 };
/** A test machine that does other things too. */
export const slackMs = 800;

/** Measures, again where something is not met, and names what was not. */
export async function assertMet(measure: () => Promise<readonly Figure[]>): Promise<void> {
  const figures = await measureBest(measure, (all) => all.every(({ isMet }) => isMet));
  for (const { row, what, measured, gate, isMet, examples = [] } of figures) {
    assert.ok(isMet, `${row}, ${what}: ${measured}; expected ${gate}\n${examples.slice(0, 5).join('\n')}`);
  }
}
