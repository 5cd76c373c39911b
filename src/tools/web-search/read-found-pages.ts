import type { PageReader } from '../page-reader.ts';
import { selectPassages } from '../select-passages.ts';
import type { SearchDepth } from './search-depth.ts';
import type { SearchResult } from './search-provider.ts';

/** A result with what is shown of it. `text` is the page's where it was read, else the service's snippet. */
export type FoundPage = SearchResult & { readonly text: string };

/**
 * Reads the best of the pages that were found, all at once; the others, and those that cannot be read, keep what the service says of them. A page that leads to
 * where the request does not want to go is left out altogether.
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
    const told = { ...result, text: (result.snippet ?? '').slice(0, depth.charactersPerPage) };
    return rank < depth.pages ? await readPage(told, options) : told;
  });
  return (await Promise.all(pages)).filter((page) => page !== undefined);
}

async function readPage(told: FoundPage, options: Parameters<typeof readFoundPages>[1]): Promise<FoundPage | undefined> {
  let wentAstray = false;
  const isWanted = (url: URL): boolean => {
    wentAstray = !options.isWanted(url);
    return !wentAstray;
  };
  try {
    const page = await options.reader.read(told.url, { tenant: options.tenant, signal: options.signal, isWanted });
    const text = selectPassages(page.text, options.queries, options.depth.charactersPerPage);
    if (text === '') return told;
    // Where the address leads to another page, what the service says is about something else.
    const {
      url: _,
      snippet,
      title = page.title,
      date = page.date,
      ...rank
    } = page.url === URL.parse(told.url)?.href ? told : onlyRank(told);
    const described = { ...(snippet === undefined ? {} : { snippet }), ...(title === undefined ? {} : { title }) };
    return { ...rank, ...described, url: page.url, text, ...(date === undefined ? {} : { date }) };
  } catch {
    // Many pages refuse programs or are gone. The snippet stands for them, except where the page turned out to belong to a site that is not wanted.
    return wentAstray ? undefined : told;
  }
}

function onlyRank({ url, text, score }: FoundPage): FoundPage {
  return { url, text, ...(score === undefined ? {} : { score }) };
}
