import { countOf, membersOf, textOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { ContractReply, FrameEditor } from '../chat-dialect.ts';
import { decodeError } from './codec/decode-error.ts';
import { errorTypeOf } from './encode-error.ts';
import { readError } from './read-error.ts';

const serverError = 500;

/** Writes the vendor's error with the contract's `code`, and with its name for an error of the server. */
function editError(status: number, body: JsonValue): JsonObject | undefined {
  if (!isJsonObject(body) || !isJsonObject(body.error)) return undefined;
  const { error } = body;
  const type = textOf(error.type) ?? errorTypeOf(status);
  const code = textOf(error.code) ?? decodeError({ status, body }).code;
  return { ...body, error: { ...error, type: type === 'api_error' ? 'server_error' : type, code } };
}

const encodeEvent = (name: string, event: JsonObject): Buffer => encodeSse({ event: name, data: JSON.stringify(event) });

/** Adds the contract's fields to a vendor's stream: usage inside the last delta, and codes of errors. */
function createFrameEditor(): FrameEditor {
  let inputTokens: number | undefined;
  const editDelta = (event: JsonObject): Buffer | undefined => {
    const usage = membersOf(event.usage);
    if (!isJsonObject(event.delta) || isJsonObject(event.delta.usage)) return undefined;
    // Older servers report the input only at the beginning.
    const contractUsage = {
      input_tokens: countOf(usage.input_tokens) ?? inputTokens ?? 0,
      output_tokens: countOf(usage.output_tokens) ?? 0,
    };
    return encodeEvent('message_delta', { ...event, delta: { ...event.delta, usage: contractUsage } });
  };
  return (frame) => {
    const { event: name } = frame;
    if (name !== undefined && name !== 'message_start' && name !== 'message_delta' && name !== 'error') return undefined;
    const event = frame.object();
    if (event === undefined) return undefined;
    switch (textOf(event.type) ?? name ?? '') {
      case 'message_start':
        inputTokens = countOf(membersOf(membersOf(event.message).usage).input_tokens);
        return undefined;
      case 'message_delta':
        return editDelta(event);
      case 'error': {
        const edited = editError(readError(event.error).status ?? serverError, event);
        return edited === undefined ? undefined : encodeEvent('error', edited);
      }
      default:
        return undefined;
    }
  };
}

/** Additions of contract B (6 and 7) that the vendor does not send. */
export const contractReply: ContractReply = { editError, createFrameEditor };
