import { chatDialects } from '../../../dialects/registry.ts';
import { enter } from '../../admission/enter.ts';
import { readRequest } from '../../admission/read-request.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { embed } from './embed-call.ts';
import type { EmbeddingServices } from './embedding-services.ts';

/** Serves POST /v1/embeddings. Returns when the call's first attempt runs, which goes on by itself. @throws GatewayError before anything was spent */
export async function serveEmbeddings(gateway: EmbeddingServices, http: EndpointRequest, report: CallReport): Promise<void> {
  const { request, response, callId } = http;
  const { clock } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const settings = gateway.settings();
  const entered = await enter(gateway, http, chatDialects['openai-responses'].voice, report);
  if (entered === undefined) return;
  const { caller, admission } = entered;
  const { bytes, body } = await readRequest(request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(bytes.length);
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  const disconnect = caller.disconnectPolicy ?? settings.disconnect;
  await embed(gateway, { callId, caller, settings, body, headers, acceptedAtMs, startedMs, response, disconnect, admission, report });
}
