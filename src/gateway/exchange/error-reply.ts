import { GatewayError } from '../../inference/gateway-error.ts';
import { writeError, writeReply } from '../write-reply.ts';
import type { ExchangeContext, ReplySink, UpstreamFlow } from './exchange-context.ts';
import { scrubBytes } from './scrub-credential.ts';
import { upstreamTimeout } from './upstream-failure.ts';

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    // The only question is whether clients can parse it; what it says instead is reported by its length and type.
    return false;
  }
}

function credentialsRejected(context: ExchangeContext, status: number): GatewayError {
  const { upstream } = context.target;
  context.logger.error({ upstream: upstream.id, status }, 'the upstream refuses the configured credential');
  return new GatewayError(
    'upstream_credentials_rejected',
    'the model service refuses the gateway; its operator has to renew the credential',
    {
      internal: `${upstream.id} answered ${status}`,
    },
  );
}

/**
 * Takes in an upstream's error answer and passes it on as it is: status, headers that may pass, and body. Two kinds are reworded: a refusal of the
 * gateway's own credential, which is none of the client's business, and bodies that no SDK can read.
 */
export function createErrorReply(
  context: ExchangeContext,
  flow: UpstreamFlow,
  status: number,
  headers: Readonly<Record<string, string>>,
): ReplySink {
  const { target, limits, timeouts, observer, response, dialect, requestId } = context;
  const chunks: Buffer[] = [];
  let length = 0;
  let lastDataMs = context.clock.monotonicMs();

  const fail = (error: GatewayError): void => {
    observer.settled({ end: 'failed', complete: false, error });
    writeError(response, dialect, error, requestId, context.framing);
  };
  const end = (): void => {
    if (status === 401 || status === 407) return fail(credentialsRejected(context, status));
    const body = scrubBytes(Buffer.concat(chunks, length), target.upstream.apiKey);
    const kept = { status: Math.max(status, 400), headers: retryAdvice(headers) };
    if (status < 400 || !isJson(body)) {
      const type = headers['content-type'] ?? 'no content type';
      return fail(
        new GatewayError(
          'upstream_error',
          `Upstream connection error: the model service answered ${status} with ${length} bytes of ${type}.`,
          {
            ...kept,
            ...(status < 400 ? { status: 502 } : {}),
          },
        ),
      );
    }
    const error = new GatewayError('upstream_error', `the model service answered ${status}`, kept);
    observer.settled({ end: 'failed', complete: false, error });
    writeReply(response, status, headers, body);
  };
  return {
    data: (chunk) => {
      lastDataMs = context.clock.monotonicMs();
      length += chunk.length;
      chunks.push(chunk);
      if (length <= limits.errorBytesMax) return;
      flow.stop();
      fail(new GatewayError('upstream_reply_too_large', `the model service's error answer is larger than ${limits.errorBytesMax} bytes`));
    },
    end,
    fail,
    clientLeft: () => {
      flow.stop();
      observer.settled({ end: 'failed', complete: false });
    },
    check: (nowMs) => {
      if (nowMs - lastDataMs < timeouts.idleMs) return;
      flow.stop();
      fail(upstreamTimeout(target, 'more of the reply', timeouts.idleMs));
    },
  };
}

function retryAdvice(headers: Readonly<Record<string, string>>): Record<string, string> {
  const advice: Record<string, string> = {};
  for (const name of ['retry-after', 'retry-after-ms', 'x-should-retry']) {
    const value = headers[name];
    if (value !== undefined) advice[name] = value;
  }
  return advice;
}
