import type { ApiKey } from '../accounts/api-key.ts';
import type { CallOpening } from '../billing/ledger/call-entry.ts';
import { type Journal, JournalUnavailableError } from '../billing/journal/journal.ts';
import type { ChatDialect } from '../dialects/chat-dialect.ts';
import type { CallFacts } from '../inference/call-facts.ts';
import { GatewayError } from '../inference/gateway-error.ts';
import type { Target } from './routing/routing-table.ts';

/**
 * Opens a call in the books before its upstream is called. What cannot be written down must not be spent, so a journal that cannot be
 * written refuses the call. Resolves when the opening is written, together with those of the other calls of the same turn.
 * @throws GatewayError `journal_unavailable` (503)
 */
export async function admit(options: {
  readonly callId: string;
  readonly acceptedAtMs: number;
  readonly caller: ApiKey;
  readonly dialect: ChatDialect;
  readonly facts: CallFacts;
  readonly target: Target;
  readonly priceVersion: string;
  readonly journal: Journal;
}): Promise<CallOpening> {
  const { caller, facts, target } = options;
  const opening: CallOpening = {
    callId: options.callId,
    acceptedAtMs: options.acceptedAtMs,
    userName: caller.userName,
    keyId: caller.id,
    keyName: caller.name,
    dialect: options.dialect.id,
    requestedModel: facts.requestedModel,
    upstream: target.upstream.id,
    vendor: target.upstream.vendor.id,
    upstreamModel: target.upstreamModel,
    stream: facts.stream,
    inputCharacters: facts.inputCharacters,
    priceVersion: options.priceVersion,
  };
  try {
    await write(options.journal, opening);
  } catch (error) {
    if (!(error instanceof JournalUnavailableError)) throw error;
    throw new GatewayError(
      'journal_unavailable',
      'the gateway cannot keep its books at the moment and makes no calls until it can; try again',
      {
        retryAfterSeconds: 1,
        internal: error.message,
        cause: error,
      },
    );
  }
  return opening;
}

function write(journal: Journal, opening: CallOpening): Promise<void> {
  return new Promise((resolve, reject) => {
    journal.open(opening, (refusal) => {
      if (refusal === undefined) resolve();
      else reject(refusal);
    });
  });
}
