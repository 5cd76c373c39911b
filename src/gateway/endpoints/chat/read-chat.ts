import type { WireRequest } from '../../../dialects/wire-request.ts';
import { yieldIfLong, largeBodyBytes } from '../../../platform/yield-queue.ts';
import { type ReadRequest, readRequest } from '../../admission/read-request.ts';
import { readBackground } from './background/background-request.ts';
import { takeCallbackUrl } from './background/take-callback-url.ts';
import type { ChatServices } from './chat-services.ts';
import type { AdmittedChat } from './admit-chat.ts';
import type { IncomingCall } from './incoming-call.ts';
import { toWireRequest } from './to-wire-request.ts';

/** A chat whose body was read and is valid. */
export type ReadChat = {
  /** The client's body, without fields that are only for the gateway. */
  readonly received: ReadRequest;
  /** The request to make. For a background response it is a stream to this process. */
  readonly request: WireRequest;
  readonly bytes: Buffer;
  readonly isBackground: boolean;
  /** The address that is notified of the end of a background response. */
  readonly callbackUrl: string | undefined;
};

/** Reads and validates the body of a chat. @throws GatewayError if it is invalid */
export async function readChat(
  { callbacks }: Pick<ChatServices, 'callbacks'>,
  call: IncomingCall,
  { settings, admission }: AdmittedChat,
): Promise<ReadChat> {
  const raw = await readRequest(call.request, settings.limits, (held) => admission.holdBytes(held));
  const { request: received, callbackUrl } = takeCallbackUrl(callbacks, call, raw);
  admission.holdBytes(received.bytes.length);
  call.dialect.validateRequest(toWireRequest(call, received.body), settings.validation);
  const background = readBackground(call, received);
  const { bytes, body } = background ?? received;
  // Validation and encoding of a large body each take a while; other calls run between them.
  const turn = bytes.length > largeBodyBytes ? yieldIfLong() : undefined;
  if (turn !== undefined) await turn;
  return { received, request: toWireRequest(call, body), bytes, isBackground: background !== undefined, callbackUrl };
}
