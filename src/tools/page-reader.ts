import { lookup } from 'node:dns/promises';

import { fetchGuarded, unreachable, type LookUpHost } from '../platform/http/fetch-guarded.ts';
import { FetchMediaError } from '../platform/http/fetch-media-error.ts';
import { isPublicAddress } from '../platform/http/public-address.ts';
import type { ExtractedPage } from './extract-page.ts';
import { createExtractionPool, type ExtractionPoolOptions } from './extraction-pool.ts';
import { createOriginFilter } from './trusted-origins.ts';

import { readPageBody } from './read-page-body.ts';

/** A page that was read, and where it was after all redirects. */
export type ReadPage = ExtractedPage & { readonly url: string };

type ReadPageOptions = {
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

/** Nothing that identifies the client or the gateway goes along; only public addresses and trusted servers are spoken to. */
export function createPageReader(options: PageReaderOptions): PageReader {
  const pool = createExtractionPool(options.extraction);
  const isTrusted = createOriginFilter(options.trustedOrigins);
  return {
    read: async (address, { signal, isWanted }) => {
      signal.throwIfAborted();
      const timeout = AbortSignal.timeout(options.timeoutMs);
      const guarded = {
        lookUp: options.lookUp ?? lookUpName,
        isAllowed: isPublicAddress,
        allowAnyServer: false,
        allowHttp: true,
        isTrusted,
        isWanted,
        headers,
        timeoutMs: options.timeoutMs,
        signal: AbortSignal.any([signal, timeout]),
      };
      const fetched = await fetchGuarded(address, guarded, async (answer, url) => ({
        url: url.href,
        raw: await readPageBody(answer, options.bytesMax).catch((cause: unknown) => {
          throw unreachable(cause);
        }),
      })).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!timeout.aborted) throw error;
        throw new FetchMediaError('timeout', `the page did not arrive within ${options.timeoutMs / 1000} seconds`, { cause: error });
      });
      const page = await pool.extract(fetched.raw, signal);
      if (page === undefined) throw new FetchMediaError('wrong-type', 'what is behind the URL cannot be read as text');
      return { ...page, url: fetched.url };
    },
    close: pool.close,
  };
}

/** Names under .localhost are this machine, whatever the system's resolver knows of them: RFC 6761, section 6.3. Only trusted servers are reached there. */
async function lookUpName(hostname: string): ReturnType<LookUpHost> {
  if (/(?:^|\.)localhost$/.test(hostname)) return [{ address: '127.0.0.1', family: 4 }];
  return await lookup(hostname, { all: true });
}
