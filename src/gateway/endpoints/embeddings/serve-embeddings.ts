import type { IncomingMessage } from 'node:http';

import { chatDialects } from '../../../dialects/registry.ts';
import { authenticate } from '../../admission/authenticate.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import { receiptHeader, receiptPath, requestIdHeader } from '../../replies/reply-headers.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { ClientWatch } from '../../attempts/disconnect/client-watch.ts';
import { checkCaller } from '../../admission/check-caller.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import { readRequest } from '../../admission/read-request.ts';
import type { RequestTarget } from '../../admission/request-target.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { writeReply } from '../../replies/write-reply.ts';
import { embed } from './embed-call.ts';

/** Serves POST /v1/embeddings. @throws GatewayError */
export async function serveEmbeddings(
  gateway: EmbeddingServices,
  http: { readonly request: IncomingMessage; readonly response: ClientReply; readonly callId: string; readonly target: RequestTarget },
  report: CallReport,
): Promise<void> {
  const { request, response, callId, target } = http;
  const { clock } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const settings = gateway.settings();
  const caller = await authenticate(request, target.queryKeys, gateway.callers);
  report.caller = caller;
  checkCaller(caller, request, acceptedAtMs, settings.isProxy);
  const { voice } = chatDialects['openai-responses'];
  const admission = await enterGate(gateway.gatekeeper, { callId, request, response, voice }, report, caller.userId);
  if (admission === undefined) return;
  const { bytes, body } = await readRequest(request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(bytes.length);
  const gone = new AbortController();
  const client = new ClientWatch({
    response,
    policy: caller.disconnectPolicy ?? settings.disconnect ?? 'abort',
    slots: gateway.drainSlots,
    elapsedMs: () => clock.monotonicMs() - startedMs,
    stop: () => gone.abort(),
  });
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  const embedded = await embed(gateway, {
    callId,
    caller,
    body,
    headers,
    acceptedAtMs,
    startedMs,
    signal: gone.signal,
    client,
    report,
  }).finally(() => client.end());
  if (response.destroyed) return;
  const replyHeaders = {
    'content-type': 'application/json',
    ...embedded.headers,
    [requestIdHeader]: callId,
    [receiptHeader]: receiptPath(callId),
  };
  writeReply(response, 200, replyHeaders, Buffer.from(JSON.stringify(embedded.body)));
}
