import type { IncomingCall } from '../incoming-call.ts';
import { describeProgress, echoRequest } from '../../../../dialects/openai-responses/codec/response-object.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { type JsonEdit, applyJsonEdits } from '../../../../platform/json/json-edits.ts';
import { textOf } from '../../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { listMembers, locateJson } from '../../../../platform/json/locate-json.ts';
import type { ReadRequest } from '../../../admission/read-request.ts';
import type { Callbacks } from '../../../../tasks/callbacks/create-callbacks.ts';

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

const field = 'callback_url';

/**
 * Takes the callback address out of a request: no upstream knows the field, and the address may contain a credential.
 * @throws GatewayError `invalid_value` if the address is invalid, or without a background response
 */
export function takeCallbackUrl(
  callbacks: Pick<Callbacks, 'readUrl'> | undefined,
  { dialect, operation }: Pick<IncomingCall, 'dialect' | 'operation'>,
  request: ReadRequest,
): { readonly request: ReadRequest; readonly callbackUrl: string | undefined } {
  const { bytes, body } = request;
  if (dialect.id !== 'openai-responses' || operation !== 'generate' || body[field] === undefined)
    return { request, callbackUrl: undefined };
  const { [field]: value, ...rest } = body;
  const remaining = { bytes: removeMember(bytes, field), body: rest };
  if (value === null) return { request: remaining, callbackUrl: undefined };
  if (body['background'] !== true) {
    const message = `'${field}' requires 'background': true, because only background responses send callbacks.`;
    throw new GatewayError('invalid_value', message, { param: field });
  }
  if (callbacks === undefined) throw new GatewayError('responses_unavailable', 'this gateway does not send callbacks', { param: field });
  return { request: remaining, callbackUrl: callbacks.readUrl(value, field) };
}

/** Removes a member of the outermost object, with its comma. Everything else stays as it is. */
function removeMember(bytes: Buffer, name: string): Buffer {
  const root = locateJson(bytes, []);
  const members = root === undefined ? [] : listMembers(bytes, root);
  const index = members.findIndex(({ key }) => key === name);
  const member = members[index];
  if (member === undefined) return bytes;
  const before = members[index - 1];
  const behind = members[index + 1];
  const start = before === undefined ? member.keySpan.start : before.valueSpan.end;
  const end = before === undefined && behind !== undefined ? behind.keySpan.start : member.valueSpan.end;
  return applyJsonEdits(bytes, [{ start, end, replacement: '' }]);
}
