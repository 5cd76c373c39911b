import type { Operation } from './dialect-id.ts';
import type { StreamFraming } from '../platform/frames.ts';
import type { JsonObject } from '../platform/json/json-value.ts';

/** A request as the gateway received it: the parsed body and the parts of the URL and the headers. */
export type WireRequest = {
  readonly operation: Operation;
  readonly body: JsonObject;
  /** Header names in lower case. Repeated headers are joined by ", ". */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The model in the path, for dialects that put it there. */
  readonly pathModel?: string | undefined;
  /** The stream framing that the path or query requests, for dialects that put it there. */
  readonly pathFraming?: StreamFraming | undefined;
};
