import type { IncomingCall } from '../incoming-call.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { receiptHeader, receiptPath, requestIdHeader } from '../../../replies/reply-headers.ts';
import type { ChatServices } from '../chat-services.ts';
import type { ResponseTurn } from '../responses/response-turn.ts';
import type { CallReport } from '../../../telemetry/call-report.ts';
import { writeError, writeReply } from '../../../replies/write-reply.ts';
import { describeQueued } from './background-request.ts';
import type { BackgroundRun } from './background-run.ts';
import { createEventSource } from './event-source.ts';
import { arrangeCallback } from './tell-end.ts';
import { writeFollowed } from './write-followed.ts';

/** A background call whose road has been gone up to its first attempt: nothing can refuse it any more but what generates it. */
export type BackgroundCall = {
  readonly call: IncomingCall;
  readonly report: CallReport;
  /** What it goes on from, and how it is kept. */
  readonly turn: ResponseTurn | undefined;
  /** The request as its client sent it. */
  readonly body: JsonObject;
  /** Where its end is to be told. */
  readonly callbackUrl?: string | undefined;
  /** Gives back what was taken for a call that then is not made. */
  readonly onRefused: () => void;
};

/**
 * Stores the queued response, answers the client with it, and goes on with the call without the client: `generate` gets the call with the run as its
 * client. The call's report and its place in the process go with the run; limits, books and journal see one call.
 * @param generate makes the call's attempts; what it throws is the response's failure
 * @throws GatewayError `responses_unavailable` when the response cannot be stored; nothing was spent
 */
export async function startBackground(
  gateway: ChatServices,
  { call, report, turn, body, callbackUrl, onRefused }: BackgroundCall,
  generate: (call: IncomingCall) => Promise<void>,
): Promise<void> {
  const runs = gateway.background;
  if (runs === undefined || turn === undefined)
    throw new GatewayError('responses_unavailable', 'responses cannot be stored here', { param: 'background' });
  const record = turn.describe();
  const queued = describeQueued(record.id, body, record.createdAtMs);
  const conclude = await arrangeCallback(gateway, record, callbackUrl, turn.conclude).catch((error: unknown) => {
    turn.close();
    throw error;
  });
  const run = await runs.begin({ record, queued, conclude }).catch((cause: unknown) => {
    turn.close();
    throw new GatewayError('responses_unavailable', 'the response cannot be stored at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  });
  // Also a run that was deleted or ended elsewhere, and so concludes nothing, gives its conversation free.
  void run.over.then(turn.close);
  report.goOn(run.reply);
  answer(gateway, call, run, body.stream === true);
  const going = { ...call, response: run.reply };
  await generate(going).catch((error: unknown) => {
    onRefused();
    refuse(gateway, going, report, error);
  });
}

function answer(gateway: ChatServices, { response, callId, dialect }: IncomingCall, run: BackgroundRun, stream: boolean): void {
  if (!stream) {
    const headers = { 'content-type': 'application/json', [requestIdHeader]: callId, [receiptHeader]: receiptPath(callId) };
    return writeReply(response, 200, headers, Buffer.from(JSON.stringify(run.response)));
  }
  const { background, clock, logger } = gateway;
  if (background === undefined) return;
  const { timeouts } = gateway.settings();
  const source = createEventSource(background, run.record);
  const following = { source, after: -1, callId, timeouts, heartbeat: dialect.voice.heartbeat('sse'), clock };
  writeFollowed(response, following).catch((error: unknown) => logger.warn({ callId, err: error }, 'a response could not be followed'));
}

/** What cannot be generated ends as failed: the client has its answer already. */
function refuse({ logger }: ChatServices, { response, dialect, callId }: IncomingCall, report: CallReport, error: unknown): void {
  if (!(error instanceof GatewayError)) logger.error({ callId, err: error }, 'a background response failed inside the gateway');
  const known = error instanceof GatewayError ? error : new GatewayError('internal_error', `the gateway failed on this call (${callId})`);
  report.refused(known);
  writeError(response, dialect.voice, known, callId);
}
