import { chatDialects } from '../../../dialects/registry.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { receivePlainCall } from '../shared/plain-call.ts';
import { embed } from './embed-call.ts';
import type { EmbeddingServices } from './embedding-services.ts';

/**
 * Serves POST /v1/embeddings. Returns when the first attempt runs.
 * @throws GatewayError before anything was spent
 */
export async function serveEmbeddings(gateway: EmbeddingServices, http: EndpointRequest, report: CallReport): Promise<void> {
  const call = await receivePlainCall(gateway, http, chatDialects['openai-responses'].voice, report);
  if (call !== undefined) await embed(gateway, call);
}
