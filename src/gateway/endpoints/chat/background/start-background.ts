import type { IncomingCall } from '../incoming-call.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { JsonObject } from '../../../../platform/json/json-value.ts';
import { receiptHeader, receiptPath, requestIdHeader, writeError, writeReply } from '../../../replies/write-reply.ts';
import type { ChatServices } from '../chat-services.ts';
import type { ResponseTurn } from '../responses/response-turn.ts';
import type { CallReport } from '../../../telemetry/call-report.ts';
import { describeQueued } from './background-request.ts';
import type { BackgroundRun, RunRecord } from './background-run.ts';
import { createEventSource } from './event-source.ts';
import { writeFollowed } from './follow-response.ts';
import { textOf } from '../../../../platform/json/json-readers.ts';

/** A background call that is ready for its first attempt: only its generation can still fail. */
export type BackgroundCall = {
  readonly call: IncomingCall;
  readonly report: CallReport;
  /** The conversation that it continues, and how it is stored. */
  readonly turn: ResponseTurn | undefined;
  /** The request as its client sent it. */
  readonly body: JsonObject;
  /** The address that is notified of its end. */
  readonly callbackUrl?: string | undefined;
  /** Releases what was reserved for the call, if it is not made. */
  readonly onRefused: () => void;
};

/**
 * Stores the queued response, answers the client with it, and continues the call without the client: `generate` gets
 * the call with the run as its client. The call's report and its place in the process pass to the run. Limits, books
 * and journal see one call.
 * @param generate makes the call's attempts; its errors are the response's failure
 * @throws GatewayError `responses_unavailable` if the response cannot be stored; nothing was spent
 */
export async function startBackground(
  gateway: ChatServices,
  { call, report, turn, body, callbackUrl, onRefused }: BackgroundCall,
  generate: (call: IncomingCall) => Promise<void>,
): Promise<void> {
  const runs = gateway.background;
  if (runs === undefined || turn === undefined)
    throw new GatewayError('responses_unavailable', 'responses are not stored here', { param: 'background' });
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
  // A run that was deleted or ended by another process concludes nothing, but must release its conversation.
  void run.over.then(turn.close);
  report.goOn(run.reply);
  answer(gateway, call, run, body.stream === true);
  const detached = { ...call, response: run.reply };
  await generate(detached).catch((error: unknown) => {
    onRefused();
    refuse(gateway, detached, report, error);
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
  writeFollowed(response, following).catch((error: unknown) =>
    logger.warn({ callId, err: error }, 'streaming a background response failed'),
  );
}

/** A call that cannot be generated ends as a failed response: the client already has its answer. */
function refuse({ logger }: ChatServices, { response, dialect, callId }: IncomingCall, report: CallReport, error: unknown): void {
  if (!(error instanceof GatewayError)) logger.error({ callId, err: error }, 'background response failed inside the gateway');
  const refusal = error instanceof GatewayError ? error : new GatewayError('internal_error', `the gateway failed on this call (${callId})`);
  report.refused(refusal);
  writeError(response, dialect.voice, refusal, callId);
}

type Conclude = (response: JsonObject) => Promise<void>;

/**
 * Registers the callback of a background response, and returns what is to be done when the response has ended.
 * @throws GatewayError `responses_unavailable` if the store does not accept it; nothing was started
 */
async function arrangeCallback(
  { callbacks, logger }: Pick<ChatServices, 'callbacks' | 'logger'>,
  { userName, id }: RunRecord,
  url: string | undefined,
  conclude: Conclude | undefined,
): Promise<Conclude | undefined> {
  if (url === undefined || callbacks === undefined) return conclude;
  // It is stored before the response is. From then on the callback is sent, whichever process dies.
  await callbacks.watchResponse({ userName, id, url }).catch((cause: unknown) => {
    throw new GatewayError('responses_unavailable', 'the response cannot be stored at the moment; try again', {
      retryAfterSeconds: 1,
      cause,
    });
  });
  return async (response) => {
    await conclude?.(response);
    await callbacks.responseEnded({ userName, id, url, status: textOf(response['status']) ?? 'failed' }).catch((error: unknown) => {
      logger.warn({ responseId: id, err: error }, 'storing the callback of a response failed');
    });
  };
}
