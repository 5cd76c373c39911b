import type { IncomingMessage } from 'node:http';
import type { Json, JsonRecord } from '../simulated-vendor.ts';
import type { RankedDocument, RankQuery } from './rank-documents.ts';

/** A request to one of the services, with its body. */
export type SearchCall = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonRecord;
};

export type SearchReply = { readonly status: number; readonly body: Json };

/** A ranked page as the services describe it. */
type FoundPage = RankedDocument & { readonly url: string; readonly snippet: string };

/** One search service, in its own wire format. */
export type SearchFormat = {
  /** The first part of its path, which a real service does not have: all are served on one port. */
  readonly prefix: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The credential of a call, or undefined. */
  readonly credentialOf: (call: SearchCall) => string | undefined;
  readonly needsKey: boolean;
  /** The parsed query, or a refusal. */
  readonly read: (call: SearchCall) => { readonly query: RankQuery; readonly resultsMax: number } | SearchReply;
  readonly write: (call: SearchCall, found: readonly FoundPage[]) => Json;
  readonly error: (status: number, message: string) => Json;
  /** The answer to an unknown credential. */
  readonly unauthorized: SearchReply;
};

export const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
export const countIn = (value: Json | undefined, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
export const textsIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
