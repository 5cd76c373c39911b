import type { IncomingCall } from '../incoming-call.ts';
import { describeProgress, echoRequest } from '../../../../dialects/openai-responses/codec/response-object.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { applyJsonEdits, type JsonEdit } from '../../../../platform/json/json-edits.ts';
import { textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { locateJson } from '../../../../platform/json/locate-json.ts';
import type { ReadRequest } from '../../../admission/read-request.ts';

/**
 * The request that generates a background response, as a stream to this process. Undefined if the client waits for its
 * response. The gateway always runs background responses itself, so that they behave alike on every upstream.
 * @throws GatewayError `invalid_value` if the response is not to be stored
 */
export function readBackground(call: Pick<IncomingCall, 'dialect' | 'operation'>, { bytes, body }: ReadRequest): ReadRequest | undefined {
  if (call.dialect.id !== 'openai-responses' || call.operation !== 'generate' || body.background !== true) return undefined;
  if (body.store === false) {
    const message = "'store' must not be false when 'background' is true: background responses are always stored.";
    throw new GatewayError('invalid_value', message, { param: 'store' });
  }
  const edits: JsonEdit[] = [];
  const background = locateJson(bytes, ['background']);
  if (background !== undefined) edits.push({ ...background, replacement: 'false' });
  const stream = locateJson(bytes, ['stream']);
  if (stream !== undefined) edits.push({ ...stream, replacement: 'true' });
  else {
    const start = bytes.indexOf('{') + 1;
    edits.push({ start, end: start, replacement: '"stream":true,' });
  }
  return { bytes: applyJsonEdits(bytes, edits), body: { ...body, background: false, stream: true } };
}

/** The response object before anything was generated, as the vendor sends it: the request with its defaults. */
export function describeQueued(id: string, body: JsonObject, createdAtMs: number): JsonObject {
  const writing = { request: body, createdAtMs };
  return {
    ...describeProgress({ id, model: textOf(body.model) ?? '', writing, output: [] }),
    ...echoRequest(writing),
    status: 'queued',
    background: true,
  };
}
