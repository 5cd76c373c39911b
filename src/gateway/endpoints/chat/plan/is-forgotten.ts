import type { UndeliveredFailure } from '../../../attempts/exchange/exchange-context.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { ResponseTurn } from '../responses/response-turn.ts';

/**
 * Whether an upstream no longer has the response that the request continues: its retention is shorter than ours, or its
 * account stores nothing. From then on the turn sends this target the whole conversation.
 */
export function isForgotten(
  { upstreamStatus, upstreamWords }: UndeliveredFailure,
  turn: ResponseTurn | undefined,
  target: Target,
): boolean {
  if (turn === undefined || (upstreamStatus !== 400 && upstreamStatus !== 404)) return false;
  return /previous[ _]response.*not[ _]found/i.test(upstreamWords ?? '') && turn.forgetKeeper(target);
}
