import type { WireRequest } from '../../../dialects/wire-request.ts';
import { giveWayIfLong, largeBodyBytes } from '../../../platform/turn-queue.ts';
import { type ReadRequest, readRequest } from '../../admission/read-request.ts';
import { readBackground } from './background/background-request.ts';
import { takeCallbackUrl } from './background/take-callback-url.ts';
import type { ChatServices } from './chat-services.ts';
import type { EnteredChat } from './enter-chat.ts';
import type { IncomingCall } from './incoming-call.ts';
import { toWireRequest } from './to-wire-request.ts';

/** A chat whose body has been read and is valid. */
export type ReadChat = {
  /** The body as its client wrote it, without what concerns the gateway alone. */
  readonly asked: ReadRequest;
  /** The request to make: that of a background response is a stream to this process. */
  readonly request: WireRequest;
  readonly bytes: Buffer;
  readonly isBackground: boolean;
  /** Where the end of a background response is to be sent. */
  readonly callbackUrl: string | undefined;
};

/** Reads and validates the body of a chat. @throws GatewayError for what is wrong with it */
export async function readChat(
  { callbacks }: Pick<ChatServices, 'callbacks'>,
  call: IncomingCall,
  { settings, admission }: EnteredChat,
): Promise<ReadChat> {
  const received = await readRequest(call.request, settings.limits, (held) => admission.holdBytes(held));
  const { asked, callbackUrl } = takeCallbackUrl(callbacks, call, received);
  admission.holdBytes(asked.bytes.length);
  call.dialect.validateRequest(toWireRequest(call, asked.body), settings.validation);
  const background = readBackground(call, asked);
  const { bytes, body } = background ?? asked;
  // What checks a large body and what writes it on take their time each; others have a turn between.
  const turn = bytes.length > largeBodyBytes ? giveWayIfLong() : undefined;
  if (turn !== undefined) await turn;
  return { asked, request: toWireRequest(call, body), bytes, isBackground: background !== undefined, callbackUrl };
}
