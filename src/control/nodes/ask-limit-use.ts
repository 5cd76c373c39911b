import { setTimeout as delay } from 'node:timers/promises';

import type { Clock } from '../../platform/clock.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { LimitOwner, LimitUses } from './limit-use.ts';
import { type ControlStore, silentAfterMs } from './node-state.ts';

/** Gateways read the question once a second, and answer at once. */
export const limitAnswerMsMax = 2500;
const lookEveryMs = 100;

/**
 * Asks all gateways what counts against the limits of owners, and waits until all have answered.
 * @param waitMs the longest wait; gateways without an answer until then are counted as silent
 * Rejects with the store's error, or with the reason of the signal.
 */
export async function askLimitUse(
  store: Pick<ControlStore, 'askLimitUse' | 'listControlReports'>,
  owners: readonly LimitOwner[],
  {
    clock,
    waitMs,
    signal,
  }: { readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>; readonly waitMs: number; readonly signal: AbortSignal },
): Promise<LimitUses> {
  const untilMs = clock.monotonicMs() + waitMs;
  const number = await waitFor(store.askLimitUse(owners, clock.nowMs()), limitAnswerMsMax, signal);
  for (;;) {
    const nodes = await waitFor(store.listControlReports(clock.nowMs() - silentAfterMs), limitAnswerMsMax, signal);
    const answers = nodes.flatMap(({ report: { limits } }) => (limits !== undefined && limits.answered >= number ? [limits.uses] : []));
    const leftMs = untilMs - clock.monotonicMs();
    if (answers.length === nodes.length || leftMs <= 0) return { answers, silent: nodes.length - answers.length };
    await delay(Math.min(lookEveryMs, leftMs), undefined, { signal });
  }
}
