import type { RerankRequest } from '../../inference/rerank.ts';

// Cohere's price page: a search unit is one query with up to 100 documents. A document of more than 500 tokens,
// including the query, counts as several documents.
const documentsPerUnit = 100;
const tokensPerDocument = 500;
/** The vendor truncates a query that leaves less of a piece than this. */
const tokensPerPieceMin = 250;

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** Computes the highest usage of a request, for holds. A token has at least one byte. */
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
    // Every document is read together with the query, and with some tokens between them.
    inputTokens += queryBytes + bytes + tokensBetween;
  }
  return { searchUnits: Math.ceil(pieces / documentsPerUnit), inputTokens };
}

const tokensBetween = 8;
