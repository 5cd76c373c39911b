import type { ConfiguredProvider } from '../../tools/web-search/ask-provider.ts';
import { searchProviders } from '../../tools/web-search/registry.ts';
import { searchProviderIds, type SearchProviderId } from '../../tools/web-search/search-provider.ts';
import type { Config } from './config-schema.ts';
import type { WebSearchConfig } from './web-tools-schema.ts';

/** The customary variables for the key of each service. Searxng has no key; its variable has the address. */
const variables: Readonly<Record<SearchProviderId, readonly string[]>> = {
  searxng: ['SEARXNG_URL'],
  brave: ['BRAVE_API_KEY', 'BRAVE_SEARCH_API_KEY'],
  tavily: ['TAVILY_API_KEY'],
  exa: ['EXA_API_KEY'],
  serper: ['SERPER_API_KEY'],
};

const defaultTimeoutMs = 10_000;

/**
 * Finds the search service: that of the file, else the first whose variable is set, else the simulated one.
 * @param simulated address of the simulated service
 */
export function findSearchProvider(
  config: Config,
  variable: (name: string) => string | undefined,
  simulated: string | undefined,
): ConfiguredProvider | undefined {
  const { webSearch } = config.tools ?? {};
  if (webSearch !== undefined) return configure(webSearch);
  for (const provider of searchProviderIds) {
    const value = variables[provider].map((name) => variable(name)).find((found) => found !== undefined);
    if (value !== undefined) return configure(provider === 'searxng' ? { provider, baseUrl: value } : { provider, apiKey: value });
  }
  return simulated === undefined ? undefined : configure({ provider: 'searxng', baseUrl: simulated });
}

function configure({ provider: id, apiKey, baseUrl, timeoutMs }: WebSearchConfig): ConfiguredProvider | undefined {
  const provider = searchProviders[id];
  const address = baseUrl ?? provider.defaultBaseUrl;
  return address === undefined ? undefined : { provider, baseUrl: address, apiKey, timeoutMs: timeoutMs ?? defaultTimeoutMs };
}

/** Checks `tools.webSearch` beyond the schema: the fields that each service requires. */
export function findSearchProblems(config: Config): readonly { readonly path: readonly string[]; readonly message: string }[] {
  const { webSearch } = config.tools ?? {};
  if (webSearch === undefined) return [];
  const { needsKey, defaultBaseUrl } = searchProviders[webSearch.provider];
  const path = ['tools', 'webSearch'];
  const { apiKey, baseUrl } = webSearch;
  return [
    ...(needsKey && apiKey === undefined ? [{ path, message: `apiKey is required for ${webSearch.provider}` }] : []),
    ...(baseUrl === undefined && defaultBaseUrl === undefined
      ? [{ path, message: `baseUrl is required for ${webSearch.provider}, for example http://127.0.0.1:8888` }]
      : []),
    ...(baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')
      ? [{ path: [...path, 'baseUrl'], message: `must be a URL with http or https, but got "${baseUrl}"` }]
      : []),
  ];
}
