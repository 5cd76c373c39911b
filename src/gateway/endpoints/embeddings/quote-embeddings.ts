import type { EmbeddingServices } from './embedding-services.ts';
import { boundEmbeddings } from './bound-embeddings.ts';
import { readEmbeddings } from './read-embeddings.ts';
import { type QuoteTarget, type QuotedCall, rankRouted } from '../shared/quoted-call.ts';

/** Quotes an embeddings request. @throws GatewayError if the call would be refused */
export function quoteEmbeddings(query: QuoteTarget<EmbeddingServices>): QuotedCall {
  const { requestedModel, inputCharacters } = readEmbeddings(query.body);
  const facts = { requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 };
  const targets = rankRouted(query, facts, { kind: 'embeddings' });
  const usage = boundEmbeddings(query.body, inputCharacters);
  return {
    dialect: 'openai-embeddings',
    requestedModel,
    targets: targets.map((target) => ({ target, usage })),
    roundsMax: 1,
  };
}
