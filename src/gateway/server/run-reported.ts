import type { IncomingCall } from '../endpoints/chat/incoming-call.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { runCall } from '../endpoints/chat/run-call.ts';
import { isTransientFailure } from '../../platform/transient-failure.ts';
import type { Gateway } from '../endpoints/gateway.ts';
import { writeError } from '../replies/write-reply.ts';

/** Long enough that a crowd does not hammer what is away. */
const storageRetrySeconds = 5;

/** Runs a call that did not come as a request of its own, and answers what refuses it. */
export function runReported(gateway: Gateway, call: IncomingCall): void {
  const { callId, dialect, operation, request, response } = call;
  const report = gateway.telemetry.begin({ callId, dialect: dialect.id, operation, request, response });
  runCall(gateway, call, report).catch((error: unknown) => {
    const known = error instanceof GatewayError ? error : describeUnexpected(gateway, callId, error);
    report.refused(known);
    writeError(response, dialect.voice, known, callId);
  });
}

/** What a client is told of a failure that no station expected: of a store that is away or full, that it may pass, and of anything else that it is a defect. The operator finds both in the log. */
export function describeUnexpected({ logger }: Pick<Gateway, 'logger'>, callId: string, error: unknown): GatewayError {
  if (isTransientFailure(error)) {
    logger.error({ callId, err: error }, 'a call was refused because the store cannot be used');
    const message = `the gateway cannot use its storage at the moment; try again (${callId})`;
    return new GatewayError('storage_unavailable', message, { retryAfterSeconds: storageRetrySeconds, cause: error });
  }
  logger.error({ callId, err: error }, 'a call failed inside the gateway');
  return new GatewayError('internal_error', `the gateway failed on this call (${callId}); it is in the operator's log`, { cause: error });
}
