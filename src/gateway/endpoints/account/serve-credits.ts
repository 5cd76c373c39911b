import type { IncomingMessage } from 'node:http';

import type { SpendingOverview } from '../../../billing/credits/spending-overview.ts';
import type { CreditUnit } from '../../../billing/rating/rating.ts';
import { createMoneyWriter, describeUnit } from '../../../billing/receipts/show-credits.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { authenticate } from '../../admission/authenticate.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import { requestIdHeader } from '../../replies/reply-headers.ts';
import type { AccountServices } from './account-services.ts';
import { checkCaller } from '../../admission/check-caller.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import type { RequestTarget } from '../../admission/request-target.ts';
import { writeReply } from '../../replies/write-reply.ts';

type Http = {
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly callId: string;
  readonly target: RequestTarget;
};

/**
 * Serves `GET /v1/credits`: the balance of the caller's user, where it is prepaid, and how the spend limits of the key and the user stand. It costs nothing.
 * @throws GatewayError `credits_unavailable` where the books cannot be read
 */
export async function serveCredits(gateway: AccountServices, { request, response, callId, target }: Http): Promise<void> {
  const caller = await authenticate(request, target.queryKeys, gateway.callers);
  const nowMs = gateway.clock.nowMs();
  checkCaller(caller, request, nowMs, gateway.settings().isProxy);
  const { voice } = chatDialects['openai-responses'];
  const admission = await enterGate(gateway.gatekeeper, { callId, request, response, voice }, undefined, caller.userId);
  if (admission === undefined) return;
  if (gateway.spending === undefined) throw new GatewayError('route_not_found', 'this gateway keeps no accounts');
  const overview = await gateway.spending.read(caller, nowMs).catch((cause: unknown) => {
    throw new GatewayError('credits_unavailable', 'the accounts cannot be read at the moment; try again', { retryAfterSeconds: 1, cause });
  });
  if (response.destroyed) return;
  const headers = { 'content-type': 'application/json', 'cache-control': 'private, no-store', [requestIdHeader]: callId };
  writeReply(response, 200, headers, Buffer.from(JSON.stringify(describe(caller, overview, gateway.settings().routing.priceBook.credits))));
}

/** The answer, described in the OpenAPI document as `Credits`. What is available may be used by others before it is asked for. */
function describe(
  { userName, name }: { readonly userName: string; readonly name: string },
  { balance, limits }: SpendingOverview,
  unit: CreditUnit | undefined,
): object {
  const money = createMoneyWriter(unit);
  return {
    object: 'credits',
    user: userName,
    key: name,
    currency: 'USD',
    ...describeUnit(unit),
    balance: balance === undefined ? null : { amount: money(balance.balanceNanoUsd), reserved: money(balance.reservedNanoUsd) },
    limits: limits.map(({ scope, period, limitNanoUsd, spentNanoUsd, reservedNanoUsd, resetsAtMs }) => ({
      scope,
      period,
      limit: money(limitNanoUsd),
      spent: money(spentNanoUsd),
      reserved: money(reservedNanoUsd),
      resets_at: resetsAtMs === undefined ? null : new Date(resetsAtMs).toISOString(),
    })),
  };
}
