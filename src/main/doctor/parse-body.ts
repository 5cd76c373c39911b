import { parseJson } from '../../platform/json/parse-json.ts';

/** The parsed body; undefined if it is not JSON. */
export function parseBody(body: Buffer): unknown {
  try {
    // A byte order mark is ignored, as the gateway does.
    return parseJson(body.subarray(body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0));
  } catch {
    return undefined;
  }
}
