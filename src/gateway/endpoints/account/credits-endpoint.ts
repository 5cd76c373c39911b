import type { Endpoint, EndpointRequest } from '../shared/endpoint.ts';
import { wordingOf } from '../shared/wording.ts';
import type { AccountServices } from './account-services.ts';
import { creditsOperation, creditsSchemas } from './open-api/credits-operations.ts';
import type { SpendingOverview } from '../../../billing/credits/spending-overview.ts';
import type { CreditUnit } from '../../../billing/rating/rating.ts';
import { createMoneyWriter, describeUnit } from '../../../billing/receipts/show-credits.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { enter } from '../../admission/enter.ts';
import { writeJson } from '../shared/write-json.ts';

/** Balance and spend limits of the caller. */
export const creditsEndpoint: Endpoint<AccountServices> = {
  name: 'credits',
  routes: [{ method: 'GET', path: '/v1/credits', openApi: { operation: creditsOperation }, serve: serveCredits }],
  voice: { owns: (path) => /^\/v1\/credits(?:\/|$)/.test(path), wording: () => wordingOf('openai-responses') },
  schemas: creditsSchemas,
};

/**
 * Serves `GET /v1/credits`: the balance that pays for the caller, if a level is prepaid, and the spend limits of all
 * levels with their current values. It is free.
 * @throws GatewayError `credits_unavailable` if the books cannot be read
 */
async function serveCredits(gateway: AccountServices, http: EndpointRequest): Promise<void> {
  const admitted = await enter(gateway, http, chatDialects['openai-responses'].voice);
  if (admitted === undefined) return;
  const { caller } = admitted;
  if (gateway.spending === undefined) throw new GatewayError('route_not_found', 'this gateway has no accounts');
  const overview = await gateway.spending.read(caller, gateway.clock.nowMs()).catch((cause: unknown) => {
    throw new GatewayError('credits_unavailable', 'the accounts cannot be read at the moment; try again', { retryAfterSeconds: 1, cause });
  });
  if (http.response.destroyed) return;
  const answer = describe(caller, overview, gateway.settings().routing.priceBook.credits);
  writeJson(http, 200, answer, { 'cache-control': 'private, no-store' });
}

/** The answer, which OpenAPI describes as `Credits`. Other calls may use an available amount at any time. */
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
    balance:
      balance === undefined
        ? null
        : { scope: balance.scope, amount: money(balance.balanceNanoUsd), reserved: money(balance.reservedNanoUsd) },
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
