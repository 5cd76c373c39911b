import type { Logger } from '../../../platform/log.ts';
import type { ToolFactories } from '../../../tools/gateway-tool.ts';
import { createPageReader, type PageReaderOptions } from '../../../tools/page-reader.ts';
import { createUrlContext } from '../../../tools/url-context/create-url-context.ts';
import { createWebSearch } from '../../../tools/web-search/create-web-search.ts';
import type { Config } from '../../config/config-schema.ts';
import { findSearchProvider } from '../../config/find-search-provider.ts';

const defaultPageTimeoutMs = 8_000;
const defaultPageBytesMax = 3_000_000;
const pageShare = 3;

/** The addresses of the simulated search service and of the pages that it finds. */
export type SimulatedSearch = { readonly url: string; readonly pageOrigin: string };

/**
 * The tools that read the web, as configured. They use no resources before their first use; `close` terminates their
 * threads.
 */
export type WebTools = Pick<ToolFactories, 'web-search' | 'url-context'> & { readonly close: () => Promise<void> };

/** @param options.simulated used if nothing else is configured; its pages may then be read */
export function openWebTools(options: {
  readonly config: Config;
  readonly variable: (name: string) => string | undefined;
  readonly simulated: SimulatedSearch | undefined;
  readonly logger: Logger;
  /** Limits of extracting the text of a page. Default: the usual ones. */
  readonly extraction?: PageReaderOptions['extraction'];
}): WebTools {
  const { config, simulated, logger } = options;
  const { webSearch, urlContext = {}, pages = {} } = config.tools ?? {};
  const provider = findSearchProvider(config, options.variable, simulated?.url);
  const reader = createPageReader({
    timeoutMs: pages.timeoutMs ?? defaultPageTimeoutMs,
    bytesMax: pages.bytesMax ?? defaultPageBytesMax,
    trustedOrigins: [...(pages.trustedOrigins ?? []), ...(simulated === undefined ? [] : [simulated.pageOrigin])],
    ...(options.extraction === undefined ? {} : { extraction: options.extraction }),
  });
  const { charactersMax } = urlContext;
  return {
    'web-search': createWebSearch({
      provider,
      reader,
      logger,
      ...(webSearch?.resultsMax === undefined ? {} : { resultsMax: webSearch.resultsMax }),
      ...(webSearch?.pagesMax === undefined ? {} : { pagesMax: webSearch.pagesMax }),
    }),
    'url-context': createUrlContext({
      reader: urlContext.enabled === false ? undefined : reader,
      ...(charactersMax === undefined ? {} : { charactersMax, charactersPerPage: Math.ceil(charactersMax / pageShare) }),
    }),
    close: reader.close,
  };
}
