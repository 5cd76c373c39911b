import { replayedHeader, requestIdHeader } from '../../replies/write-reply.ts';
import { isUpstreamLimit } from '../../attempts/exchange/pass-headers.ts';
import type { StoredReply } from '../../../billing/idempotency/stored-reply.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ClientReply } from '../../replies/client-reply.ts';

/** The header with the id of the request that repeats another. */
const replayIdHeader = 'x-weir-replay-request-id';

type Replay = {
  readonly reply: StoredReply;
  readonly response: ClientReply;
  readonly callId: string;
  /** The caller's present limits. */
  readonly limitHeaders: Readonly<Record<string, string>>;
  readonly stalledReaderMs: number;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

/**
 * Repeats an answer byte for byte, under the id of its call.
 * @throws GatewayError if nothing was sent yet
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
    // The status was sent, so the failure can only cut the answer off.
    response.destroy();
    if (!(error instanceof GatewayError)) throw error;
  }
}

/** Whether a header depends on the time of the answer, or on its connection. */
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
  return new GatewayError('request_timeout', 'the client disconnected, or does not read its reply');
}
