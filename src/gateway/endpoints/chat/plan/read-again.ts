import { isJsonObject, type JsonObject } from '../../../../platform/json/json-value.ts';
import { parseJsonInTurns } from '../../../../platform/json/parse-in-turns.ts';
import { parseJson } from '../../../../platform/json/parse-json.ts';
import { largeBodyBytes } from '../../../../platform/turn-queue.ts';

/** It was within the limits when it came, and may have grown since by what it names. */
const unlimited = { depthMax: Infinity, tokensMax: Infinity };

/** The tree of a body that was read before: of a large one in steps, between which others have their turn. */
export async function readAgain(bytes: Buffer): Promise<JsonObject> {
  const body = bytes.length > largeBodyBytes ? await parseJsonInTurns(bytes, unlimited) : parseJson(bytes);
  return isJsonObject(body) ? body : {};
}
