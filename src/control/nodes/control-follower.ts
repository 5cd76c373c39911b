import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { ControlSignals, ControlStore, NodeDescription, NodeReport } from './node-state.ts';

export type ControlFollowerOptions = {
  readonly nodeId: string;
  readonly store: Pick<ControlStore, 'readControl' | 'putNodeState' | 'removeNodeState'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  /** Takes the orders; called after each reading. If it rejects, they are read again a second later. */
  readonly follow: (signals: ControlSignals) => void | Promise<void>;
  readonly report: () => NodeReport;
  /** Finished calls that are not in the database yet, as the report has them. */
  readonly journalPending: () => number;
  /** The same object as long as nothing has changed. */
  readonly describe: () => NodeDescription;
  /** Time between two readings. Default 1 s: an order is followed within two. */
  readonly pollMs?: number;
};

export type ControlFollower = { readonly start: () => Promise<void>; readonly close: () => Promise<void> };

const usualReportMs = 30_000;
const watchedReportMs = 2000;
const storeMsMax = 5000;
const dayMs = 86_400_000;

/**
 * Follows the orders of operators in one gateway, and reports its state: every 30 s, every 2 s while somebody looks at
 * it, and at once when its journal begins or ceases to wait. Calls never wait for it. While the store is down, the last
 * orders hold.
 */
export function createControlFollower(options: ControlFollowerOptions): ControlFollower {
  const { nodeId, store, clock, logger, follow, report, journalPending, describe, pollMs = 1000 } = options;
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let reportedAtMs = -Infinity;
  let described: NodeDescription | undefined;
  let orders = '';
  let hadPending = false;
  let isDown = false;

  const ask = <Answer>(answer: Promise<Answer>): Promise<Answer> => waitFor(answer, storeMsMax, closing.signal);

  async function look(): Promise<void> {
    const signals = await ask(store.readControl(clock.nowMs()));
    await follow(signals);
    const nowMs = clock.nowMs();
    const everyMs = nowMs < signals.watchedUntilMs ? watchedReportMs : usualReportMs;
    const description = describe();
    // A report after a change of the orders says that they are followed.
    const ordered = JSON.stringify([signals.overrides, signals.reloads, signals.newestLayer, signals.limitQuestions]);
    const hasPending = journalPending() > 0;
    const isKnown = description === described && ordered === orders && hasPending === hadPending;
    if (nowMs - reportedAtMs < everyMs && isKnown) return;
    const changed = description === described ? {} : { description };
    await ask(store.putNodeState({ nodeId, atMs: nowMs, report: report(), ...changed }));
    reportedAtMs = nowMs;
    described = description;
    orders = ordered;
    hadPending = hasPending;
  }

  async function repeat(): Promise<void> {
    try {
      await look();
      isDown = false;
    } catch (error) {
      if (closing.signal.aborted) return;
      if (!isDown) logger.warn({ err: error }, 'reading the orders of operators failed');
      isDown = true;
    }
    // Reading must not keep the process alive.
    if (!closing.signal.aborted) timer = setTimeout(() => void (running = repeat()), pollMs).unref();
  }

  return {
    start: () => (running = repeat()),
    close: async () => {
      closing.abort(new Error('the gateway is stopping'));
      clearTimeout(timer);
      await running;
      try {
        await waitFor(store.removeNodeState(nodeId, clock.nowMs() - dayMs), storeMsMax);
      } catch (error) {
        logger.warn({ err: error }, 'removing the state of the gateway failed');
      }
    },
  };
}
