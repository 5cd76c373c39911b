import type { PageReader } from '../page-reader.ts';
import { selectPassages } from '../select-passages.ts';
import type { SearchDepth } from './search-depth.ts';
import type { SearchResult } from './search-provider.ts';

/** A result with its visible text: the text of the page if it was read, otherwise the service's snippet. */
export type FoundPage = SearchResult & { readonly text: string };

/**
 * Reads the best results at the same time. The others, and pages that cannot be read, keep the service's snippet. A
 * page that redirects to an unwanted site is left out.
 */
export async function readFoundPages(
  results: readonly SearchResult[],
  options: {
    readonly depth: SearchDepth;
    readonly isWanted: (url: URL) => boolean;
    readonly reader: PageReader;
    readonly tenant: string;
    readonly queries: readonly string[];
    readonly signal: AbortSignal;
  },
): Promise<readonly FoundPage[]> {
  const { depth } = options;
  const pages = results.map(async (result, rank): Promise<FoundPage | undefined> => {
    if (result.pageText !== undefined)
      return { ...result, text: selectPassages(result.pageText, options.queries, depth.charactersPerPage) };
    const withSnippet = { ...result, text: (result.snippet ?? '').slice(0, depth.charactersPerPage) };
    return rank < depth.pages ? await readPage(withSnippet, options) : withSnippet;
  });
  return (await Promise.all(pages)).filter((page) => page !== undefined);
}

async function readPage(withSnippet: FoundPage, options: Parameters<typeof readFoundPages>[1]): Promise<FoundPage | undefined> {
  let wentAstray = false;
  const isWanted = (url: URL): boolean => {
    wentAstray = !options.isWanted(url);
    return !wentAstray;
  };
  try {
    const page = await options.reader.read(withSnippet.url, { tenant: options.tenant, signal: options.signal, isWanted });
    const text = selectPassages(page.text, options.queries, options.depth.charactersPerPage);
    if (text === '') return withSnippet;
    // If the address redirects, the service's snippet describes another page.
    const {
      url: _,
      snippet,
      title = page.title,
      date = page.date,
      ...rank
    } = page.url === URL.parse(withSnippet.url)?.href ? withSnippet : onlyRank(withSnippet);
    const described = { ...(snippet === undefined ? {} : { snippet }), ...(title === undefined ? {} : { title }) };
    return { ...rank, ...described, url: page.url, text, ...(date === undefined ? {} : { date }) };
  } catch {
    // Many pages refuse programs or no longer exist. The snippet replaces them, unless the page redirected to an
    // unwanted site.
    return wentAstray ? undefined : withSnippet;
  }
}

function onlyRank({ url, text, score }: FoundPage): FoundPage {
  return { url, text, ...(score === undefined ? {} : { score }) };
}
