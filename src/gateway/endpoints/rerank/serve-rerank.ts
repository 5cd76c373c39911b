import { chooseRerankForm } from '../../../dialects/rerank/rerank-form.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { writeError } from '../../replies/write-reply.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { type PlainServices, receivePlainCall } from '../shared/plain-call.ts';
import { rank } from './rank-call.ts';
import { rerankVoice } from './rerank-voice.ts';

/**
 * Serves a ranking request. Returns when the first attempt runs.
 * @throws GatewayError before the body is read
 */
export async function serveRerank(gateway: PlainServices, http: EndpointRequest, report: CallReport, pathVoice: ErrorVoice): Promise<void> {
  const call = await receivePlainCall(gateway, http, pathVoice, report);
  if (call === undefined) return;
  const form = chooseRerankForm(http.target.path, call.body);
  const voice = rerankVoice(form);
  try {
    await rank(gateway, call, form, voice);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // Three vendors share the path; the body decides which format errors have.
    report.refused(error);
    writeError(http.response, voice, error, http.callId);
  }
}
