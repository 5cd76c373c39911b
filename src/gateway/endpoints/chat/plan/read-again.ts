import { isJsonObject, type JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonInSlices } from '../../../../platform/json/parse-in-slices.ts';
import { parseJson } from '../../../../platform/json/parse-json.ts';
import { largeBodyBytes } from '../../../../platform/yield-queue.ts';

/** The body was within the limits when it was received, and inlined files may have made it larger. */
const unlimited = { depthMax: Infinity, tokensMax: Infinity };

/** Parses a body again; a large one in steps that yield to the event loop. */
export async function readAgain(bytes: Buffer): Promise<JsonObject> {
  const body = bytes.length > largeBodyBytes ? await parseJsonInSlices(bytes, unlimited) : parseJson(bytes);
  return isJsonObject(body) ? body : {};
}
