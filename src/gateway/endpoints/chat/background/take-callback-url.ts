import type { IncomingCall } from '../incoming-call.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { applyJsonEdits } from '../../../../platform/json/json-edits.ts';
import { listMembers, locateJson } from '../../../../platform/json/locate-json.ts';
import type { Callbacks } from '../../../../tasks/callbacks/create-callbacks.ts';
import type { ReadRequest } from '../../../admission/read-request.ts';

const field = 'callback_url';

/**
 * Takes the address that the end of a background response is to be told to out of its request: no upstream knows the field, and the address may hold a credential.
 * @throws GatewayError `invalid_value` for an address that is none, or without a background response
 */
export function takeCallbackUrl(
  callbacks: Pick<Callbacks, 'readUrl'> | undefined,
  { dialect, operation }: Pick<IncomingCall, 'dialect' | 'operation'>,
  request: ReadRequest,
): { readonly asked: ReadRequest; readonly callbackUrl: string | undefined } {
  const { bytes, body } = request;
  if (dialect.id !== 'openai-responses' || operation !== 'generate' || body[field] === undefined)
    return { asked: request, callbackUrl: undefined };
  const { [field]: value, ...rest } = body;
  const asked = { bytes: removeMember(bytes, field), body: rest };
  if (value === null) return { asked, callbackUrl: undefined };
  if (body['background'] !== true) {
    const message = `'${field}' is for responses that are generated in the background: send 'background': true with it.`;
    throw new GatewayError('invalid_value', message, { param: field });
  }
  if (callbacks === undefined) throw new GatewayError('responses_unavailable', 'callbacks are not sent here', { param: field });
  return { asked, callbackUrl: callbacks.readUrl(value, field) };
}

/** Takes a member of the outermost object out, with the comma that belongs to it. Everything else stays as it is. */
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
