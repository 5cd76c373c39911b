import type { LimitedSubject, Limiter, Reservation } from '../../../gateway/admission/limits/limiter.ts';
import type { PrimaryTopics, ReserveAnswer } from './protocol.ts';

/** The reservations of one worker's calls in the shared limits. */
export type WorkerReservations = {
  readonly reserve: (asked: {
    readonly id: number;
    readonly subjects: readonly LimitedSubject[];
    readonly tokens: number;
  }) => ReserveAnswer;
  readonly end: (ended: PrimaryTopics['end-reservation']['ask']) => void;
  /** The worker has died with its calls: their slots are released, and their tokens count as estimated. */
  readonly endAll: () => void;
};

export function createWorkerReservations({ limiter }: { readonly limiter: Pick<Limiter, 'reserve'> }): WorkerReservations {
  const held = new Map<number, Reservation>();
  return {
    reserve: ({ id, subjects, tokens }) => {
      const taken = limiter.reserve(subjects, tokens);
      if (taken.admitted) {
        held.set(id, taken);
        return { admitted: true, state: taken.state };
      }
      const { waitMs, ...refusal } = taken;
      return waitMs === Infinity ? refusal : { ...refusal, waitMs };
    },
    end: ({ id, used }) => {
      const reservation = held.get(id);
      held.delete(id);
      if (used === 'given-back') reservation?.release();
      else if (used === 'unknown') reservation?.finish();
      else reservation?.settle(used);
    },
    endAll: () => {
      for (const reservation of held.values()) reservation.finish();
      held.clear();
    },
  };
}
