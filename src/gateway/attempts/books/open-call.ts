import type { ApiKey } from '../../../accounts/api-key.ts';
import type { CallOpening } from '../../../billing/ledger/call-entry.ts';
import { type Journal, JournalUnavailableError } from '../../../billing/journal/journal.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';
import type { Target } from '../routing/target.ts';

/**
 * Opens a call in the books before its upstream is called. What cannot be written down must not be spent, so a journal that cannot be
 * written refuses the call. Resolves when the opening is written, together with those of the other calls of the same turn.
 * Rejects with GatewayError `journal_unavailable` (503).
 */
export function openCall(options: {
  readonly callId: string;
  readonly acceptedAtMs: number;
  readonly caller: ApiKey;
  /** The client's interface. */
  readonly dialect: string;
  readonly facts: CallFacts;
  readonly target: Target;
  readonly priceVersion: string;
  readonly journal: Journal;
  readonly translation?: CallOpening['translation'] | undefined;
  readonly failedAttempts?: CallOpening['failedAttempts'] | undefined;
  readonly parentCallId?: string | undefined;
  readonly pricingParameters?: CallOpening['pricingParameters'] | undefined;
  readonly credit?: CallCredit | undefined;
}): Promise<CallOpening> {
  const { caller, facts, target } = options;
  const opening: CallOpening = {
    callId: options.callId,
    acceptedAtMs: options.acceptedAtMs,
    userName: caller.userName,
    keyId: caller.id,
    keyName: caller.name,
    dialect: options.dialect,
    requestedModel: facts.requestedModel,
    upstream: target.upstream.id,
    vendor: target.upstream.vendor.id,
    upstreamModel: target.upstreamModel,
    stream: facts.stream,
    inputCharacters: facts.inputCharacters,
    priceVersion: options.priceVersion,
    ...(options.translation === undefined ? {} : { translation: options.translation }),
    ...(options.failedAttempts === undefined ? {} : { failedAttempts: options.failedAttempts }),
    ...(options.parentCallId === undefined ? {} : { parentCallId: options.parentCallId }),
    ...(options.pricingParameters === undefined ? {} : { pricingParameters: options.pricingParameters }),
    ...options.credit?.describe(),
  };
  return new Promise((resolve, reject) => {
    const hear = (refusal: JournalUnavailableError | undefined): void => {
      if (refusal === undefined) resolve(opening);
      else reject(describeRefusal(refusal));
    };
    try {
      options.journal.open(opening, hear);
    } catch (error) {
      if (!(error instanceof JournalUnavailableError)) throw error;
      hear(error);
    }
  });
}

function describeRefusal(refusal: JournalUnavailableError): GatewayError {
  return new GatewayError(
    'journal_unavailable',
    'the gateway cannot keep its books at the moment and makes no calls until it can; try again',
    {
      retryAfterSeconds: 1,
      internal: refusal.message,
      cause: refusal,
    },
  );
}
