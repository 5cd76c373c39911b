import { boundEmbeddings } from '../embeddings/bound-embeddings.ts';
import { readEmbeddings } from '../embeddings/read-embeddings.ts';
import type { Asked, QuotedCall } from './quoted-call.ts';
import { rankRouted } from './rank-routed.ts';

/** Reads a request for embeddings as a call of it would be read. @throws GatewayError */
export function quoteEmbeddings(asked: Asked): QuotedCall {
  const { requestedModel, inputCharacters } = readEmbeddings(asked.body);
  const facts = { requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 };
  const targets = rankRouted(
    asked,
    facts,
    'embeddings',
    ({ upstream }) => upstream.vendor.embeddingsPath !== undefined,
    'makes embeddings',
  );
  const usage = boundEmbeddings(asked.body, inputCharacters);
  return {
    dialect: 'openai-embeddings',
    requestedModel,
    targets: targets.map((target) => ({ target, usage })),
    roundsMax: 1,
  };
}
