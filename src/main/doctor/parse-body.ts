import { parseIfJson } from '../../platform/json/parse-if-json.ts';

/** The parsed body; undefined if it is not JSON. A byte order mark is ignored, as the gateway does. */
export function parseBody(body: Buffer): unknown {
  return parseIfJson(body.subarray(body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0));
}
