import type { StreamFraming } from '../../../platform/frames.ts';

type Headers = Readonly<Record<string, string>>;

/** SDKs compare the letters of a type. */
const types = { json: /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/, events: /^text\/event-stream\s*(?:;|$)/ } as const;

/**
 * The headers of a body that is JSON. Some servers send it as `text/plain` or without a type, and the SDK of OpenAI
 * then returns a string instead of an object.
 */
export function asJson(headers: Headers): Headers {
  return types.json.test(headers['content-type'] ?? '') ? headers : { ...headers, 'content-type': 'application/json' };
}

/** The same for a stream of the client in this framing; `EventSource` reads no other type than that of events. */
export function asStream(headers: Headers, framing: StreamFraming): Headers {
  if (framing === 'json-array') return asJson(headers);
  return types.events.test(headers['content-type'] ?? '') ? headers : { ...headers, 'content-type': 'text/event-stream; charset=utf-8' };
}
