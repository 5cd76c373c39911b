import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';

/**
 * Refuses a request that names something which a vendor stores. The vendor knows only the operator's credential, so it
 * would give any caller another caller's things. Files, vector stores, responses, conversations and threads are not
 * checked here, because the gateway knows their owners.
 * @throws GatewayError `object_not_found`
 */
export function refuseStoredIds(dialect: DialectId, body: JsonObject): void {
  const [found] = chatDialects[dialect].findStoredIds(body).take(1);
  if (found === undefined) return;
  const { param, what, instead } = found;
  throw new GatewayError(
    'object_not_found',
    `${param}: it names ${what} at the vendor of this model, and this gateway does not know its owner. Please ${instead}, or ask the operator to allow such ids (storedIds of the upstream).`,
    { param, status: 400 },
  );
}
