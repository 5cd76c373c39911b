import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import type { RerankForm } from '../../../dialects/rerank/rerank-form.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import { type PlainCall, type PlainServices, startPlainCall } from '../shared/plain-call.ts';
import { boundsOfRanking } from './ranking-bounds.ts';
import { readRanking } from './read-ranking.ts';
import { createRerankJob } from './rerank-job.ts';

/**
 * Makes one ranking call, of a client or of file search. Returns when the first attempt runs.
 * @throws GatewayError before anything was spent
 */
export async function rank(gateway: PlainServices, call: PlainCall, form: RerankForm, voice: ErrorVoice): Promise<void> {
  const { body, settings, caller, headers } = call;
  const isStrict = asksForStrict(caller, headers);
  const ranking = readRanking(body, form, settings.validation, isStrict);
  await startPlainCall(gateway, call, {
    label: 'rerank',
    voice,
    facts: ranking.facts,
    kind: 'rerank',
    bound: () => boundsOfRanking(ranking),
    createJob: (purchase) => createRerankJob({ ...call, form, ranking, isStrict, purchase }),
  });
}
