import type { GatewayError } from '../../../inference/gateway-error.ts';
import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { classifyStatus, createOverflowError, createUpstreamError, messageCharactersMax } from '../../upstream-error.ts';

/** Classifies an error by its status. Its kind is in a header, which the upstream's vendor reads first. */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  const { message, Message } = membersOf(body);
  const said = (filledText(message) ?? filledText(Message) ?? '').slice(0, messageCharactersMax);
  const error = { status, message: said, words: [], retryAfterSeconds };
  return createOverflowError(error) ?? createUpstreamError(classifyStatus(status), error);
}
