import { GatewayError } from '../../inference/gateway-error.ts';
import type { FunctionTool, ToolFinding } from '../../inference/inference-request.ts';
import { FetchMediaError } from '../../platform/http/fetch-media-error.ts';
import { textOf, textsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { createDomainFilter } from '../domain-filter.ts';
import type { GatewayTool, Source, ToolOutcome, ToolRun, ToolFactories } from '../gateway-tool.ts';
import type { PageReader, ReadPage } from '../page-reader.ts';
import { disarm, quoteSource, sourcesNotice } from '../quote-source.ts';

export type UrlContextOptions = {
  /** Absent: the operator has turned the tool off, and every request for it is refused. */
  readonly reader: PageReader | undefined;
  /** For one page, and for all pages of one call together. */
  readonly charactersPerPage?: number;
  readonly charactersMax?: number;
};

/** For one call by the model: https://ai.google.dev/gemini-api/docs/url-context */
export const pagesPerCallMax = 20;
const atOnce = 5;
const snippetCharactersMax = 500;
const defaultCharactersPerPage = 40_000;
const defaultCharactersMax = 120_000;

const fetchUrl: FunctionTool = {
  kind: 'function',
  name: 'fetch_url',
  description:
    'Reads web pages, texts and PDF files whose addresses are in the conversation, and returns them as numbered sources. ' +
    'Write the number of a source, such as 【1】, right after each statement that is based on it.',
  parameters: {
    type: 'object',
    properties: {
      urls: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        maxItems: pagesPerCallMax,
        description: `Addresses that begin with https:// or http://, up to ${pagesPerCallMax}.`,
      },
    },
    required: ['urls'],
    additionalProperties: false,
  },
};

/** Text on a page can make a model write an address that contains parts of the conversation. */
const unknownAddress = 'only addresses in the conversation or in the results of a search for this reply may be read';

/** A page, or the reason why it could not be read, for the model. */
type Attempt =
  | { readonly address: string; readonly page: ReadPage }
  | { readonly address: string; readonly problem: string; readonly slow: boolean };

/** Creates the tool that reads pages in a conversation. */
export function createUrlContext(options: UrlContextOptions): ToolFactories['url-context'] {
  return (tool, { userName: tenant }) => {
    const { reader } = options;
    if (reader === undefined) {
      const message = 'Reading web pages is switched off on this gateway: its operator can switch it on with tools.urlContext.enabled.';
      throw new GatewayError('tool_unavailable', message, tool.path === undefined ? {} : { param: tool.path });
    }
    const isWanted = createDomainFilter(tool);
    let usesLeft = tool.maxUses ?? Number.POSITIVE_INFINITY;
    return {
      kind: 'url-context',
      offer: fetchUrl,
      readInput: readUrls,
      run: async (run) => {
        const requested = readUrls(run.arguments);
        const urls = requested.slice(0, usesLeft);
        if (requested.length === 0) return fail('invalid-input', 'fetch_url needs addresses: {"urls": ["https://…"]}. Nothing was read.');
        if (urls.length === 0)
          return fail('limit-reached', 'The limit of pages for this request is reached. Answer with what you have, and read no more.');
        usesLeft -= urls.length;
        const attempts = await readAll(urls, (url) => attempt(url, reader, { tenant, isWanted }, run));
        if (run.signal.aborted) return fail('timed-out', 'The reading was cancelled.');
        return writeOutcome(attempts, requested.slice(urls.length), run, options);
      },
    } satisfies GatewayTool;
  };
}

function readUrls(args: JsonObject): readonly string[] {
  const written = [...textsOf(args['urls']), textOf(args['urls']) ?? '', textOf(args['url']) ?? ''];
  return [...new Set(written.map((url) => url.trim()).filter((url) => url !== ''))].slice(0, pagesPerCallMax);
}

/** Reads a few at a time, in order. */
async function readAll(urls: readonly string[], read: (url: string) => Promise<Attempt>): Promise<readonly Attempt[]> {
  const attempts: Attempt[] = [];
  let next = 0;
  const takeTurns = async (): Promise<void> => {
    for (let place = next++; place < urls.length; place = next++) attempts[place] = await read(urls[place] ?? '');
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, urls.length) }, takeTurns));
  return attempts;
}

async function attempt(
  address: string,
  reader: PageReader,
  options: { readonly tenant: string; readonly isWanted: (url: URL) => boolean },
  run: ToolRun,
): Promise<Attempt> {
  const { signal, knowsAddress } = run;
  if (!knowsAddress(address)) return { address, problem: unknownAddress, slow: false };
  try {
    return { address, page: await reader.read(address, { ...options, signal }) };
  } catch (error) {
    const isFetchError = error instanceof FetchMediaError;
    return {
      address,
      problem: isFetchError ? error.message : 'the page could not be read',
      slow: isFetchError && error.problem === 'timeout',
    };
  }
}

function writeOutcome(attempts: readonly Attempt[], notRead: readonly string[], run: ToolRun, options: UrlContextOptions): ToolOutcome {
  const sources: Source[] = [];
  const results: ToolFinding[] = [];
  const blocks: string[] = [];
  let left = options.charactersMax ?? defaultCharactersMax;
  for (const outcome of attempts) {
    if ('problem' in outcome) {
      results.push({ url: outcome.address, unreadable: true });
      blocks.push(`${disarm(outcome.address).slice(0, 500)} was not read: ${outcome.problem}.`);
      continue;
    }
    const { title, date, url, text: whole } = outcome.page;
    const number = run.firstSource + sources.length;
    const text = whole.slice(0, Math.min(left, options.charactersPerPage ?? defaultCharactersPerPage));
    left -= text.length;
    const cut = text.length < whole.length ? `\n[The page continues: ${whole.length - text.length} more characters are left out.]` : '';
    blocks.push(quoteSource({ number, url, title, date, text: text + cut }));
    const named = title === undefined ? {} : { title };
    const snippet = text.slice(0, snippetCharactersMax);
    sources.push({ number, citation: { ...named, ...(snippet === '' ? {} : { citedText: snippet }), source: { kind: 'url', url } } });
    results.push({ url, ...named, ...(snippet === '' ? {} : { text: snippet }), ...(date === undefined ? {} : { date }) });
  }
  const notes = notRead.map((url) => `The limit of pages left no room for ${disarm(url).slice(0, 500)}.`);
  const usage = sources.length === 0 ? {} : { pagesRead: sources.length };
  const answer = [...(sources.length === 0 ? [] : [sourcesNotice]), ...blocks, ...notes].join('\n\n');
  if (sources.length > 0) return { answer, sources, shown: { results }, usage };
  const slow = attempts.every((outcome) => 'problem' in outcome && outcome.slow);
  return { answer, sources, shown: { results, failed: true, failure: slow ? 'timed-out' : 'unavailable' }, usage };
}

function fail(failure: NonNullable<ToolOutcome['shown']['failure']>, answer: string): ToolOutcome {
  return { answer, sources: [], shown: { failed: true, failure }, usage: {} };
}
