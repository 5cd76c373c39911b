import { chatDialects } from '../dialects/registry.ts';
import type { GatewayError } from '../inference/gateway-error.ts';
import { membersOf } from '../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';

/**
 * The error of Google's form in a body, where streams may have it in an array. Undefined for another form, such as that
 * of a dialect.
 */
export function googleErrorOf(body: JsonValue | undefined): JsonObject | undefined {
  const error = membersOf(membersOf(Array.isArray(body) ? body[0] : body)['error']);
  return typeof error['code'] === 'number' && typeof error['status'] === 'string' ? error : undefined;
}

/** Words an error of Google's form. */
export function decodeGoogleError(status: number, body: JsonValue | undefined): GatewayError {
  return chatDialects['gemini-generate-content'].codec.decodeError({ status, body });
}
