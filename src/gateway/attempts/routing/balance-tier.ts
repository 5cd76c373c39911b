import type { Availability } from '../health/health.ts';
import { drawFor, scoreOf } from './conversation-hash.ts';
import type { Balance, RoutedTarget } from './routing-table.ts';

/** A target that can take the call, with its state when the call arrived. */
export type Candidate = {
  readonly routed: RoutedTarget;
  readonly state: Extract<Availability, { usable: true }>['state'];
  /** Attempts that run there. */
  readonly inFlight: number;
};

/**
 * A target may exceed its share of the running attempts by this factor and a few more, before a call of a conversation
 * goes elsewhere.
 */
const shareFactor = 1.25;
const extraAttempts = 4;

/**
 * Orders the candidates of one tier for a call. Pure except for `random`.
 * @param conversation hash of the call's conversation; read unless the choice is random
 * @param random an even draw from 0 to 1
 */
export function balanceTier(
  candidates: readonly Candidate[],
  balance: Balance,
  conversation: () => number,
  random: () => number,
): readonly Candidate[] {
  if (candidates.length < 2) return candidates;
  const hash = balance === 'random' ? 0 : conversation();
  const scored = candidates.map((candidate) => {
    const { weight, seed } = candidate.routed;
    // Zero has no logarithm.
    const draw = balance === 'random' ? Math.max(random(), Number.EPSILON) : drawFor(hash, seed);
    return { candidate, score: scoreOf(draw, weight), load: balance === 'least-loaded' ? candidate.inFlight / weight : 0 };
  });
  scored.sort((first, second) => first.load - second.load || second.score - first.score);
  const order = scored.map(({ candidate }) => candidate);
  return balance === 'conversation' ? boundLoad(order) : order;
}

/** Moves the first candidate that is not overloaded to the front. If all are overloaded, the order stays. */
function boundLoad(order: readonly Candidate[]): readonly Candidate[] {
  let inFlight = 0;
  let weight = 0;
  for (const candidate of order) {
    inFlight += candidate.inFlight;
    weight += candidate.routed.weight;
  }
  const chosen = order.findIndex((candidate) => {
    const share = (inFlight * candidate.routed.weight) / weight;
    return candidate.inFlight <= shareFactor * share + extraAttempts;
  });
  const first = order[chosen];
  return first === undefined || chosen === 0 ? order : [first, ...order.slice(0, chosen), ...order.slice(chosen + 1)];
}
