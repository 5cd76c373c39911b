import type { IncomingMessage } from 'node:http';

import { chatDialects } from '../../../dialects/registry.ts';
import { authenticate } from '../../admission/authenticate.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { checkCaller } from '../../admission/check-caller.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import { readRequest } from '../../admission/read-request.ts';
import type { RequestTarget } from '../../admission/request-target.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { embed } from './embed-call.ts';

/** Serves POST /v1/embeddings. Returns when the call's first attempt runs, which goes on by itself. @throws GatewayError before anything was spent */
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
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  const disconnect = caller.disconnectPolicy ?? settings.disconnect;
  await embed(gateway, { callId, caller, settings, body, headers, acceptedAtMs, startedMs, response, disconnect, admission, report });
}
