import type { JsonObject } from '../platform/json/json-value.ts';
import type { UsageReport } from './usage.ts';

/** A document as the model reads it, and as the client wrote it. */
export type RerankDocument = { readonly text: string; readonly original: string | JsonObject };

/** What is to be ranked, in no vendor's words. */
export type RerankRequest = {
  readonly requestedModel: string;
  readonly query: string;
  readonly documents: readonly RerankDocument[];
  /** How many results are wanted; all where absent. */
  readonly resultsMax?: number;
  /** Whether results bring their documents. */
  readonly returnsDocuments: boolean;
  /** Where documents are cut, if the client says so. */
  readonly tokensPerDocumentMax?: number;
  /** False where a document that is too long is to be refused and not cut. */
  readonly truncates?: boolean;
};

/** The place of a document in the request, and how well it fits the query. */
export type RerankResult = { readonly index: number; readonly score: number };

/** What an upstream found, best first. */
export type RerankReply = {
  readonly results: readonly RerankResult[];
  readonly usage?: UsageReport;
  readonly servedModel?: string;
  readonly replyId?: string;
};
