import type { RerankRequest } from '../../inference/rerank.ts';

// Cohere's price page: a search unit is one query with up to 100 documents, and a document of more than 500 tokens, the query counted, is several.
const documentsPerUnit = 100;
const tokensPerDocument = 500;
/** A query that leaves less of a piece than this is cut by the vendor. */
const tokensPerPieceMin = 250;

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The most that a request can come to, for holds: a token has at least one byte. */
export function boundRerank({ query, documents }: Pick<RerankRequest, 'query' | 'documents'>): {
  readonly searchUnits: number;
  readonly inputTokens: number;
} {
  const queryBytes = bytesOf(query);
  const perPiece = Math.max(tokensPerPieceMin, tokensPerDocument - queryBytes);
  let pieces = 0;
  let inputTokens = 0;
  for (const { text } of documents) {
    const bytes = bytesOf(text);
    pieces += Math.max(1, Math.ceil(bytes / perPiece));
    // Every document is read together with the query, and some tokens between them.
    inputTokens += queryBytes + bytes + tokensBetween;
  }
  return { searchUnits: Math.ceil(pieces / documentsPerUnit), inputTokens };
}

const tokensBetween = 8;
