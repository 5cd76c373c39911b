import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { UpstreamController, UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import { describeUpstreamFailure, upstreamTimeout } from './upstream-failure.ts';
import type { GatewayLimits, GatewayTimeouts } from '../../settings/limits.ts';
import type { Target } from '../routing/target.ts';

export type WholeAnswer = { readonly status: number; readonly headers: ReplyHeaders; readonly body: Buffer };

/**
 * Sends a request and takes in its whole answer, whatever its status. Rejects with GatewayError when none came in time, when it is too large, or when the
 * client has left.
 * @param onHead hears the status when it comes
 */
export function askTarget(
  target: Target,
  request: UpstreamRequest,
  options: {
    readonly timeouts: GatewayTimeouts;
    readonly limits: Pick<GatewayLimits, 'replyBytesMax'>;
    readonly signal: AbortSignal;
    readonly onHead: (status: number) => void;
  },
): Promise<WholeAnswer> {
  const { timeouts, limits, signal } = options;
  const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
  let controller: UpstreamController | undefined;
  let head: Pick<WholeAnswer, 'status' | 'headers'> | undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  const fail = (error: GatewayError): void => {
    reject(error);
    controller?.abort(error);
  };
  const onAbort = (): void => fail(new GatewayError('request_timeout', 'the client has left'));
  let timer = setTimeout(() => fail(upstreamTimeout(target, 'answer', timeouts.firstByteMs)), timeouts.firstByteMs);
  const total = setTimeout(() => fail(upstreamTimeout(target, 'whole answer', timeouts.totalMs)), timeouts.totalMs);
  const waitAgain = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(upstreamTimeout(target, 'more of the answer', timeouts.idleMs)), timeouts.idleMs);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  else
    target.upstream.client.send(request, {
      onRequestStart: (started) => (controller = started),
      onResponseStart: (_, status, headers) => {
        if (status < 200) return;
        head = { status, headers };
        options.onHead(status);
        waitAgain();
      },
      onResponseData: (_, piece) => {
        waitAgain();
        bytes += piece.length;
        if (bytes > limits.replyBytesMax) fail(new GatewayError('upstream_reply_too_large', "the model service's reply is too large"));
        else pieces.push(piece);
      },
      onResponseEnd: () => {
        if (head !== undefined) resolve({ ...head, body: Buffer.concat(pieces) });
      },
      onResponseError: (_, error) => reject(describeUpstreamFailure(error, target, head !== undefined)),
    });
  return promise.finally(() => {
    clearTimeout(timer);
    clearTimeout(total);
    signal.removeEventListener('abort', onAbort);
  });
}
