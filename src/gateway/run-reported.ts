import { GatewayError } from '../inference/gateway-error.ts';
import { type IncomingCall, runCall } from './call.ts';
import type { Gateway } from './gateway.ts';
import { writeError } from './write-reply.ts';

/** Runs a call that did not come as a request of its own, and answers what refuses it. */
export function runReported(gateway: Gateway, call: IncomingCall): void {
  const { callId, dialect, operation, request, response } = call;
  const report = gateway.telemetry.begin({ callId, dialect: dialect.id, operation, request, response });
  runCall(gateway, call, report).catch((error: unknown) => {
    const known = error instanceof GatewayError ? error : describeUnexpected(gateway, callId, error);
    report.refused(known);
    writeError(response, dialect, known, callId);
  });
}

/** What a client is told of a defect; the operator finds it in the log. */
export function describeUnexpected({ logger }: Pick<Gateway, 'logger'>, callId: string, error: unknown): GatewayError {
  logger.error({ callId, err: error }, 'a call failed inside the gateway');
  return new GatewayError('internal_error', `the gateway failed on this call (${callId}); it is in the operator's log`, { cause: error });
}
