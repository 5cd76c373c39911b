import type { JsonObject } from '../platform/json/json-value.ts';
import type { UsageReport } from './usage.ts';

/** A document as text for the model, and as the client wrote it. */
export type RerankDocument = { readonly text: string; readonly original: string | JsonObject };

/** A request for a ranking, independent of vendors. */
export type RerankRequest = {
  readonly requestedModel: string;
  readonly query: string;
  readonly documents: readonly RerankDocument[];
  /** The maximum of results. Absent: all. */
  readonly resultsMax?: number;
  /** Whether results contain their documents. */
  readonly returnsDocuments: boolean;
  /** The length at which documents are truncated. Absent: the upstream decides. */
  readonly tokensPerDocumentMax?: number;
  /** False if a document that is too long is refused and not truncated. */
  readonly truncates?: boolean;
};

/** The index of a document in the request, and how well it matches the query. */
export type RerankResult = { readonly index: number; readonly score: number };

/** The results of an upstream, best first. */
export type RerankReply = {
  readonly results: readonly RerankResult[];
  readonly usage?: UsageReport;
  readonly servedModel?: string;
  readonly replyId?: string;
};
