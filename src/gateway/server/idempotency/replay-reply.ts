import { replayedHeader, requestIdHeader } from '../../replies/write-reply.ts';
import { isUpstreamLimit } from '../../attempts/exchange/pass-headers.ts';
import type { StoredReply } from '../../../billing/idempotency/stored-reply.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ClientReply } from '../../replies/client-reply.ts';

/** The id of the request that repeated another. */
const replayIdHeader = 'x-weir-replay-request-id';

type Replay = {
  readonly reply: StoredReply;
  readonly response: ClientReply;
  readonly callId: string;
  /** Where the caller stands with its limits now. */
  readonly limitHeaders: Readonly<Record<string, string>>;
  readonly stalledReaderMs: number;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
};

/**
 * Gives an answer once more, byte for byte, under the id of the call that it was.
 * @throws GatewayError as long as nothing was sent
 */
export async function replayReply(replay: Replay): Promise<void> {
  const { reply, response, callId, limitHeaders } = replay;
  const pieces = reply.body();
  const first = await pieces.next();
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.headers)) if (!isOfTheMoment(name)) headers[name] = value;
  const own = { ...limitHeaders, [requestIdHeader]: reply.requestId, [replayedHeader]: 'true', [replayIdHeader]: callId };
  response.writeHead(reply.status, { ...headers, ...own });
  try {
    if (first.done !== true) await write(replay, first.value);
    for await (const piece of pieces) await write(replay, piece);
    response.end();
  } catch (error) {
    // The status has gone: an answer that is cut off is all that can still be said.
    response.destroy();
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** Whether a header says how things stood when the answer was given, or belongs to its connection. */
function isOfTheMoment(name: string): boolean {
  return isUpstreamLimit(name) || name === 'connection' || name === 'date' || name === 'transfer-encoding';
}

async function write({ response, signal, stalledReaderMs }: Replay, piece: Buffer): Promise<void> {
  if (signal.aborted) throw hasLeft();
  if (response.write(piece)) return;
  const drained = Promise.withResolvers<void>();
  const giveUp = (): void => drained.reject(hasLeft());
  const timer = setTimeout(giveUp, stalledReaderMs);
  signal.addEventListener('abort', giveUp, { once: true });
  response.once('drain', drained.resolve);
  try {
    await drained.promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

function hasLeft(): GatewayError {
  return new GatewayError('request_timeout', 'the client has left, or does not read its reply');
}
