import { chatDialects } from '../../../dialects/registry.ts';
import { type PlainCall, startPlainCall } from '../shared/plain-call.ts';
import { boundEmbeddings } from './bound-embeddings.ts';
import { createEmbeddingJob } from './embedding-job.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { readEmbeddings } from './read-embeddings.ts';

/**
 * Makes one call for embeddings, of a client or of file search. Returns when the first attempt runs.
 * @throws GatewayError before anything was spent
 */
export async function embed(gateway: EmbeddingServices, call: PlainCall): Promise<void> {
  const { body } = call;
  const { requestedModel, inputCharacters, encoding } = readEmbeddings(body);
  await startPlainCall(gateway, call, {
    kind: 'embeddings',
    label: 'openai-embeddings',
    voice: chatDialects['openai-chat'].voice,
    facts: { requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 },
    bound: () => {
      const bounds = boundEmbeddings(body, inputCharacters);
      return () => bounds;
    },
    createJob: (purchase) => {
      const { replyBytesMax } = call.settings.limits;
      return createEmbeddingJob({ ...call, purchase, inputCharacters, encoding, replyBytesMax });
    },
  });
}
