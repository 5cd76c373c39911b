import { GatewayError } from '../../inference/gateway-error.ts';
import { writeError } from '../write-reply.ts';
import type { ExchangeContext, Outcome, ReplySink, UpstreamFlow } from './exchange-context.ts';
import { upstreamTimeout } from './upstream-failure.ts';

export type CollectOptions = {
  readonly bytesMax: number;
  /** What the client is told about a body that is larger. */
  readonly tooLarge: string;
  /** How the call ends when the client leaves before the body is whole. */
  readonly endWhenLeft: Outcome['end'];
  /** Called once with the whole body. It settles and answers the call, or calls `fail`. */
  readonly complete: (body: Buffer, fail: (error: GatewayError) => void) => void;
};

/** Takes in a body as a whole, within its limits of size and silence. Nothing is sent before all has come, so every failure is still an HTTP status. */
export function createCollectedReply(context: ExchangeContext, flow: UpstreamFlow, options: CollectOptions): ReplySink {
  const { target, timeouts, observer, response, dialect, requestId, framing, clock } = context;
  const chunks: Buffer[] = [];
  let length = 0;
  let lastDataMs = clock.monotonicMs();

  const fail = (error: GatewayError): void => {
    observer.settled({ end: 'failed', complete: false, error });
    writeError(response, dialect, error, requestId, framing);
  };
  return {
    data: (chunk) => {
      lastDataMs = clock.monotonicMs();
      length += chunk.length;
      chunks.push(chunk);
      if (length <= options.bytesMax) return;
      flow.stop();
      fail(new GatewayError('upstream_reply_too_large', options.tooLarge));
    },
    end: () => {
      const [only] = chunks;
      options.complete(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length), fail);
    },
    fail,
    clientLeft: () => {
      flow.stop();
      observer.settled({ end: options.endWhenLeft, complete: false });
    },
    check: (nowMs) => {
      if (nowMs - lastDataMs < timeouts.idleMs) return;
      flow.stop();
      fail(upstreamTimeout(target, 'more of the reply', timeouts.idleMs));
    },
  };
}
