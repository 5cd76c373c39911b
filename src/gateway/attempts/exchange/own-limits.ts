import { chatDialects } from '../../../dialects/registry.ts';
import type { TakenLimits } from '../../admission/limits/reserve-call.ts';
import type { ReplySink } from '../../replies/reply-sink.ts';
import type { ExchangeObserver } from './exchange-context.ts';
import type { ReplyRelay } from './reply-relay.ts';

/** Whether a header of an upstream is about the limits of the operator's account there. */
export function isUpstreamLimit(name: string): boolean {
  return limitHeaders.some((beginning) => name.startsWith(beginning));
}

const limitHeaders: readonly string[] = [...new Set(Object.values(chatDialects).flatMap((dialect) => dialect.limitHeaders))];

/**
 * The same relay, whose replies say where the caller stands instead of where the operator does at the upstream: what is left of the operator's account is no client's business
 * where limits of ours apply.
 */
export function withOwnLimits<Piece>(relay: ReplyRelay<Piece>, { headers: own }: TakenLimits): ReplyRelay<Piece> {
  return {
    ...relay,
    replyHeaders: (received) => {
      const passed = relay.replyHeaders(received);
      const headers: Record<string, string> = {};
      for (const name in passed) if (!isUpstreamLimit(name)) headers[name] = passed[name] ?? '';
      return Object.assign(headers, own);
    },
  };
}

/**
 * The same observer, which ends what was taken with the call, whatever happens while it is settled. Where the call fails, the gateway may write the reply
 * itself: it says where the caller stands as well.
 */
export function endWithCall(
  observer: ExchangeObserver,
  { reservation, headers }: TakenLimits,
  sink: Pick<ReplySink<never>, 'hasBegun' | 'setHeader'>,
): ExchangeObserver {
  return {
    ...observer,
    settled: (outcome, then) => {
      try {
        if (outcome.error !== undefined && !sink.hasBegun) for (const name in headers) sink.setHeader(name, headers[name] ?? '');
        observer.settled(outcome, then);
      } finally {
        reservation.finish();
      }
    },
  };
}
