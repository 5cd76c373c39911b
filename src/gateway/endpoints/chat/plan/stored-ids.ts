import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/**
 * Refuses a request that names something which a vendor keeps. The vendor knows the operator's credential alone, so it would give any caller what another one's call has made. Files, vector
 * stores, responses, conversations and threads are not looked at here: the gateway knows whose they are.
 * @throws GatewayError `object_not_found`
 */
export function refuseStoredIds(dialect: DialectId, body: JsonObject): void {
  const [found] = chatDialects[dialect].findStoredIds(body).take(1);
  if (found === undefined) return;
  const { param, what, instead } = found;
  throw new GatewayError(
    'object_not_found',
    `${param}: it names ${what} at the vendor of this model, and this gateway cannot tell whose it is. Please ${instead}, or ask the operator to allow such ids (storedIds of the upstream).`,
    { param, status: 400 },
  );
}
