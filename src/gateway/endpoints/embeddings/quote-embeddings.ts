import type { EmbeddingServices } from './embedding-services.ts';
import { boundEmbeddings } from './bound-embeddings.ts';
import { readEmbeddings } from './read-embeddings.ts';
import { type QuoteTarget, type QuotedCall, rankRouted } from '../shared/quoted-call.ts';

/** Reads a request for embeddings as a call of it would be read. @throws GatewayError */
export function quoteEmbeddings(asked: QuoteTarget<EmbeddingServices>): QuotedCall {
  const { requestedModel, inputCharacters } = readEmbeddings(asked.body);
  const facts = { requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 };
  const targets = rankRouted(asked, facts, { kind: 'embeddings' });
  const usage = boundEmbeddings(asked.body, inputCharacters);
  return {
    dialect: 'openai-embeddings',
    requestedModel,
    targets: targets.map((target) => ({ target, usage })),
    roundsMax: 1,
  };
}
