import type { Clock } from './clock.ts';

const backoffMaxMs = 300_000;

export type DeliveryRoundsOptions = {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Time between two rounds, and the first pause after a failure. */
  readonly everyMs: number;
  /** Limit of one delivery. */
  readonly timeoutMs: number;
  /** A receiver failed that worked before. */
  readonly onFailure: (name: string, error: unknown) => void;
  /** A receiver works again. */
  readonly onRecovery: (name: string) => void;
};

export type DeliveryRounds = {
  /** Aborted when the rounds are closed. */
  readonly ended: AbortSignal;
  /** A signal for one delivery: its time limit, or the end of the rounds. */
  readonly limit: () => AbortSignal;
  /**
   * Delivers to all receivers at the same time. After a failure a receiver is left out for growing pauses. It delays no
   * other. Never rejects.
   */
  readonly deliver: <Receiver extends { readonly name: string }>(
    receivers: readonly Receiver[],
    send: (receiver: Receiver) => Promise<void>,
  ) => Promise<void>;
  /** Starts rounds, one after another. `round` must never reject. */
  readonly start: (round: () => Promise<void>) => void;
  /** Ends the round that is under way and starts no more. */
  readonly close: () => Promise<void>;
};

type Failure = { readonly count: number; readonly nextMs: number };

/** Delivers to named receivers in rounds, as a forwarder of the audit log or of content does. */
export function createDeliveryRounds({ clock, everyMs, timeoutMs, onFailure, onRecovery }: DeliveryRoundsOptions): DeliveryRounds {
  const end = new AbortController();
  const failures = new Map<string, Failure>();
  const isDue = (name: string): boolean => clock.nowMs() >= (failures.get(name)?.nextMs ?? 0);
  const noteFailure = (name: string, error: unknown): void => {
    const count = (failures.get(name)?.count ?? 0) + 1;
    failures.set(name, { count, nextMs: clock.nowMs() + Math.min(backoffMaxMs, everyMs * 2 ** Math.min(count - 1, 16)) });
    if (count === 1) onFailure(name, error);
  };
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const schedule = (round: () => Promise<void>): void => {
    timer = setTimeout(() => {
      running = round().then(() => {
        if (!end.signal.aborted) schedule(round);
      });
    }, everyMs).unref();
  };
  return {
    ended: end.signal,
    limit: () => AbortSignal.any([end.signal, AbortSignal.timeout(timeoutMs)]),
    deliver: async (receivers, send) => {
      const due = receivers.filter(({ name }) => isDue(name));
      const deliverTo = async (receiver: (typeof due)[number]): Promise<void> => {
        try {
          await send(receiver);
          if (failures.delete(receiver.name)) onRecovery(receiver.name);
        } catch (error) {
          if (!end.signal.aborted) noteFailure(receiver.name, error);
        }
      };
      await Promise.all(due.map(deliverTo));
    },
    start: schedule,
    close: async () => {
      end.abort(new Error('the forwarder was closed'));
      clearTimeout(timer);
      await running;
    },
  };
}
