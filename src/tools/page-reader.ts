import { lookup } from 'node:dns/promises';

import { fetchGuarded, unreachable, type LookUpHost } from '../platform/http/fetch-guarded.ts';
import { FetchMediaError } from '../platform/http/fetch-media-error.ts';
import { isPublicAddress } from '../platform/http/public-address.ts';
import type { ExtractedPage, RawPage } from './extract-page.ts';
import { createExtractionPool, type ExtractionPoolOptions } from './extraction-pool.ts';
import { readPageBody } from './read-page-body.ts';
import { createOriginFilter } from './trusted-origins.ts';

/** A page that was read, and where it was after all redirects. */
export type ReadPage = ExtractedPage & { readonly url: string };

type ReadPageOptions = {
  /** For whom the page is read: users take turns. */
  readonly tenant: string;
  readonly signal: AbortSignal;
  /** Asked for the address and for each that it redirects to. */
  readonly isWanted: (url: URL) => boolean;
};

/** Reads pages that strangers have named: a model, a client or a search engine. */
export type PageReader = {
  /** Rejects with FetchMediaError, whose message is meant for the model, or with the signal's reason. */
  readonly read: (url: string, options: ReadPageOptions) => Promise<ReadPage>;
  readonly close: () => Promise<void>;
};

export type PageReaderOptions = {
  /** For fetching one page, its redirects included. */
  readonly timeoutMs: number;
  /** What of a page is read; a text that is longer is cut. */
  readonly bytesMax: number;
  /** Servers that need not be of the public internet, as createOriginFilter reads them. */
  readonly trustedOrigins: readonly string[];
  /** How host names are looked up. Default: as the system does. */
  readonly lookUp?: LookUpHost;
  readonly extraction?: Partial<ExtractionPoolOptions>;
};

const headers = {
  accept: 'text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, application/pdf;q=0.8, */*;q=0.1',
  // A small compressed answer could become a huge one; those that come all the same are measured as they are opened.
  'accept-encoding': 'identity',
  'user-agent': 'weir',
};

/** Pages that are read at a time, by all calls: each may hold as many bytes as are read of a page. */
const atOnceMax = 128;

/** Nothing that identifies the client or the gateway goes along; only public addresses and trusted servers are spoken to. */
export function createPageReader(options: PageReaderOptions): PageReader {
  const pool = createExtractionPool(options.extraction);
  const isTrusted = createOriginFilter(options.trustedOrigins);
  let underWay = 0;
  return {
    read: async (address, wanted) => {
      wanted.signal.throwIfAborted();
      if (underWay >= atOnceMax) throw new FetchMediaError('unreachable', 'too many pages are being read at the moment');
      underWay += 1;
      try {
        const { url, raw } = await fetchPage(address, { ...options, isTrusted }, wanted);
        const page = await pool.extract(raw, wanted);
        if (page === undefined) throw new FetchMediaError('wrong-type', 'what is behind the URL cannot be read as text');
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

/** Names under .localhost are this machine, whatever the system's resolver knows of them: RFC 6761, section 6.3. Only trusted servers are reached there. */
async function lookUpName(hostname: string): ReturnType<LookUpHost> {
  if (/(?:^|\.)localhost$/.test(hostname)) return [{ address: '127.0.0.1', family: 4 }];
  return await lookup(hostname, { all: true });
}
