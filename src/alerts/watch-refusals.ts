import type { CreditDesk, CreditHold, CreditRefusal, Payer } from '../billing/credits/credit-desk.ts';
import { potsOf } from '../billing/credits/pots.ts';
import type { Observation } from './alert.ts';
import { refusedMember } from './conditions/find-budgets.ts';

/** Further limits are not remembered, so that keys without number cannot fill the memory. */
const rememberedMax = 10_000;

export type RefusalWatch = {
  /** The same desk, whose refusals are remembered. */
  readonly desk: CreditDesk;
  /** The spend limits that have refused calls since a time. Earlier ones are forgotten. */
  readonly since: (sinceMs: number) => readonly Observation[];
};

/** Remembers which spend limits refuse calls. A call that is not refused costs nothing more. */
export function watchRefusals(desk: CreditDesk): RefusalWatch {
  const refusedAtMs = new Map<string, number>();
  const note = (payer: Payer, outcome: CreditHold | CreditRefusal, nowMs: number): void => {
    if (outcome.admitted || outcome.reason !== 'spend-limit') return;
    const { scope, period } = outcome;
    const pot = potsOf(payer, nowMs).find((each) => each.kind === 'spend' && each.scope === scope && each.period === period);
    if (pot !== undefined && (refusedAtMs.size < rememberedMax || refusedAtMs.has(pot.id))) refusedAtMs.set(pot.id, nowMs);
  };
  return {
    desk: {
      ...desk,
      hold: (payer, nanoUsd, nowMs) => {
        const outcome = desk.hold(payer, nanoUsd, nowMs);
        if (outcome === undefined) return outcome;
        if (!(outcome instanceof Promise)) {
          note(payer, outcome, nowMs);
          return outcome;
        }
        return outcome.then((settled) => {
          note(payer, settled, nowMs);
          return settled;
        });
      },
    },
    since: (sinceMs) => {
      for (const [id, atMs] of refusedAtMs) if (atMs < sinceMs) refusedAtMs.delete(id);
      return [...refusedAtMs.keys()].map((subject) => ({ rule: 'budget', subject, member: refusedMember, state: 'bad' }));
    },
  };
}
