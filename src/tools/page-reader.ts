import { lookup } from 'node:dns/promises';

import { fetchGuarded, unreachable, type LookUpHost } from '../platform/http/fetch-guarded.ts';
import { FetchMediaError } from '../platform/http/fetch-media-error.ts';
import { isPublicAddress } from '../platform/http/public-address.ts';
import type { ExtractedPage, RawPage } from './extract-page.ts';
import { createExtractionPool, type ExtractionPoolOptions } from './extraction-pool.ts';
import { readPageBody } from './read-page-body.ts';
import { createOriginFilter } from './trusted-origins.ts';

/** The content of a page, and its address after all redirects. */
export type ReadPage = ExtractedPage & { readonly url: string };

type ReadPageOptions = {
  /** The owner of the request, for fair scheduling. */
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Checks the address and each redirect. */
  readonly isWanted: (url: URL) => boolean;
};

/** Reads untrusted pages, which a model, a client or a search engine named. */
export type PageReader = {
  /** Rejects with FetchMediaError, whose message is for the model, or with the signal's reason. */
  readonly read: (url: string, options: ReadPageOptions) => Promise<ReadPage>;
  readonly close: () => Promise<void>;
};

export type PageReaderOptions = {
  /** For one page with its redirects. */
  readonly timeoutMs: number;
  /** How much of a page is read. A longer text is cut. */
  readonly bytesMax: number;
  /** Servers outside the public internet that are allowed, as createOriginFilter reads them. */
  readonly trustedOrigins: readonly string[];
  /** Looks up host names. Default: the system's look-up. */
  readonly lookUp?: LookUpHost;
  readonly extraction?: Partial<ExtractionPoolOptions>;
};

const headers = {
  accept: 'text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, application/pdf;q=0.8, */*;q=0.1',
  // A small compressed answer could become a huge one. Answers that are compressed anyway are measured while they are
  // decompressed.
  'accept-encoding': 'identity',
  'user-agent': 'weir',
};

/** How many pages are read at a time, for all calls. Each may use `bytesMax` of memory. */
const atOnceMax = 128;

/**
 * Requests contain nothing that identifies the client or the gateway. Only public addresses and trusted servers are
 * contacted.
 */
export function createPageReader(options: PageReaderOptions): PageReader {
  const pool = createExtractionPool(options.extraction);
  const isTrusted = createOriginFilter(options.trustedOrigins);
  let underWay = 0;
  return {
    read: async (address, request) => {
      request.signal.throwIfAborted();
      if (underWay >= atOnceMax) throw new FetchMediaError('unreachable', 'too many pages are being read at the moment');
      underWay += 1;
      try {
        const { url, raw } = await fetchPage(address, { ...options, isTrusted }, request);
        const page = await pool.extract(raw, request);
        if (page === undefined) throw new FetchMediaError('wrong-type', 'the content of the URL is not readable as text');
        return { ...page, url };
      } finally {
        underWay -= 1;
      }
    },
    close: pool.close,
  };
}

async function fetchPage(
  address: string,
  options: PageReaderOptions & { readonly isTrusted: (url: URL) => boolean },
  { signal, isWanted }: ReadPageOptions,
): Promise<{ readonly url: string; readonly raw: RawPage }> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const guarded = {
    lookUp: options.lookUp ?? lookUpName,
    isAllowed: isPublicAddress,
    allowAnyServer: false,
    allowHttp: true,
    isTrusted: options.isTrusted,
    isWanted,
    headers,
    timeoutMs: options.timeoutMs,
    signal: AbortSignal.any([signal, timeout]),
  };
  try {
    return await fetchGuarded(address, guarded, async (answer, url) => {
      const raw = await readPageBody(answer, options.bytesMax).catch((cause: unknown) => {
        throw unreachable(cause);
      });
      return { url: url.href, raw };
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new FetchMediaError('timeout', `the page did not arrive within ${options.timeoutMs / 1000} seconds`, { cause: error });
  }
}

/**
 * Names under .localhost are this machine, whatever the system's resolver answers: RFC 6761, section 6.3. Only trusted
 * servers are contacted there.
 */
async function lookUpName(hostname: string): ReturnType<LookUpHost> {
  if (/(?:^|\.)localhost$/.test(hostname)) return [{ address: '127.0.0.1', family: 4 }];
  return await lookup(hostname, { all: true });
}
