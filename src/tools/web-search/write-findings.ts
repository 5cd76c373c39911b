import type { ToolFinding } from '../../inference/inference-request.ts';
import type { Source, ToolOutcome } from '../gateway-tool.ts';
import { quoteSource, sourcesNotice } from '../quote-source.ts';
import type { FoundPage } from './read-found-pages.ts';

const snippetCharactersMax = 500;

/** Writes the results of a search for the model, for the client and for the citations. */
export function writeFindings(
  pages: readonly FoundPage[],
  { queries, notes, firstSource }: { readonly queries: readonly string[]; readonly notes: readonly string[]; readonly firstSource: number },
): Omit<ToolOutcome, 'usage'> {
  const about = queries.map((query) => `"${query}"`).join(', ');
  if (pages.length === 0) {
    const answer = [`The search for ${about} found no pages.`, ...notes].join('\n');
    return { answer, sources: [], shown: { results: [] } };
  }
  const quoted = pages.map((page, index) =>
    quoteSource({ number: firstSource + index, url: page.url, title: page.title, date: page.date, text: page.text }),
  );
  return {
    answer: [`Results of a web search for ${about}.`, sourcesNotice, ...notes, ...quoted].join('\n\n'),
    sources: pages.map((page, index) => describeSource(page, firstSource + index)),
    shown: { results: pages.map(describeFinding) },
  };
}

function snippetOf({ snippet, text }: FoundPage): string {
  return (snippet ?? text).slice(0, snippetCharactersMax);
}

function describeSource(page: FoundPage, number: number): Source {
  const citedText = snippetOf(page);
  return {
    number,
    citation: {
      ...(page.title === undefined ? {} : { title: page.title }),
      ...(citedText === '' ? {} : { citedText }),
      source: { kind: 'url', url: page.url },
    },
  };
}

function describeFinding(page: FoundPage): ToolFinding {
  const text = snippetOf(page);
  return {
    url: page.url,
    ...(page.title === undefined ? {} : { title: page.title }),
    ...(text === '' ? {} : { text }),
    ...(page.date === undefined ? {} : { date: page.date }),
    ...(page.score === undefined ? {} : { score: page.score }),
  };
}
