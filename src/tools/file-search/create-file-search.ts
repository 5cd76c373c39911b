import { callRankingsMax, rankingRowId } from '../../billing/ledger/row-ids.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { FileSearchTool, FunctionTool } from '../../inference/inference-request.ts';
import type { Clock } from '../../platform/clock.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { Logger } from '../../platform/log.ts';
import { formatSourceNumber, type GatewayTool, type ToolOutcome, type ToolOwner, type ToolRun } from '../gateway-tool.ts';
import { disarm } from '../quote-source.ts';
import { expiryOf } from './file-objects.ts';
import type { VectorStoresStore } from './file-store.ts';
import type { RankingOwner } from './rank-texts.ts';
import { type FoundText, queriesMax, type SearchFiles } from './search-files.ts';

/** How many chunks the model receives if the request does not say. */
const defaultResultsMax = 10;

const offer: FunctionTool = {
  kind: 'function',
  name: 'file_search',
  description:
    'Searches the files of the user and returns the passages that match best, each with its number. Describe what you need to know in a few words; ' +
    'use several queries for several questions. Put the number of a passage, exactly as shown, after each sentence that is based on it.',
  parameters: {
    type: 'object',
    properties: {
      queries: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: queriesMax, description: 'The query.' },
    },
    required: ['queries'],
    additionalProperties: false,
  },
};

/**
 * Creates the file search of one request. It checks the stores before anything is spent: a store of another user is
 * refused like one that does not exist.
 */
export function createFileSearch(options: {
  readonly store: VectorStoresStore;
  readonly search: SearchFiles;
  readonly clock: Clock;
  readonly logger: Logger;
}): (tool: FileSearchTool, owner: ToolOwner) => Promise<GatewayTool> {
  return async (tool, owner) => {
    await checkStores(options, tool, owner);
    const nextPart = countParts(owner);
    return {
      kind: 'file-search',
      offer,
      readInput: readQueries,
      run: async (run) => {
        try {
          return await runSearch(options.search, tool, { ...owner, part: nextPart() }, run);
        } catch (error) {
          options.logger.warn({ err: error }, 'file search failed');
          const answer = 'The files cannot be searched at the moment.';
          return { answer, sources: [], shown: { failed: true, failure: 'unavailable' }, usage: {} };
        }
      },
    };
  };
}

async function checkStores(
  { store, clock }: { readonly store: VectorStoresStore; readonly clock: Clock },
  { storeIds, path }: FileSearchTool,
  { userName }: ToolOwner,
): Promise<void> {
  const param = `${path ?? 'tools'}.vector_store_ids`;
  for (const storeId of new Set(storeIds)) {
    const found = await store.findVectorStore({ userName, storeId });
    if (found === undefined)
      throw new GatewayError('object_not_found', `Vector store with id [${storeId.slice(0, 80)}] not found.`, { param });
    const nowMs = clock.nowMs();
    if ((expiryOf(found) ?? Infinity) <= nowMs) throw new GatewayError('invalid_value', `Vector store ${found.id} has expired.`, { param });
    await store.touchVectorStore({ userName, storeId, nowMs });
  }
}

/**
 * Numbers the rankings of a call, whose rows are booked in this order. Undefined if its receipt has no room for more.
 */
function countParts({ callId }: ToolOwner): () => RankingOwner['part'] {
  let rankings = 0;
  return () => {
    rankings += 1;
    return callId === undefined || rankings > callRankingsMax ? undefined : { parentCallId: callId, rowId: rankingRowId(callId, rankings) };
  };
}

async function runSearch(
  search: SearchFiles,
  tool: FileSearchTool,
  { userName, keyId, part }: ToolOwner & Pick<RankingOwner, 'part'>,
  run: ToolRun,
): Promise<ToolOutcome> {
  const queries = readQueries(run.arguments);
  if (queries.length === 0) {
    const answer = 'Nothing was searched: "queries" must be a list of texts.';
    return { answer, sources: [], shown: { failed: true, failure: 'invalid-input' }, usage: {} };
  }
  const { storeIds, filter, scoreThreshold } = tool;
  const resultsMax = tool.resultsMax ?? defaultResultsMax;
  const ranker = part === undefined ? 'none' : tool.ranker;
  const found = await search({ userName, keyId, part, storeIds, queries, filter, resultsMax, scoreThreshold, ranker, signal: run.signal });
  return describeFound(found, run.firstSource);
}

function describeFound(found: readonly FoundText[], firstSource: number): ToolOutcome {
  // Files may contain untrusted text, which must not look like the number of a source.
  const passages = found.map(({ filename, text }, index) => `${formatSourceNumber(firstSource + index)} ${disarm(`${filename}\n${text}`)}`);
  return {
    answer: passages.length === 0 ? 'Nothing was found in the files.' : passages.join('\n\n'),
    sources: found.map(({ filename, fileId, text }, index) => ({
      number: firstSource + index,
      citation: { title: filename, citedText: text, source: { kind: 'document', fileId } },
    })),
    shown: {
      results: found.map(({ fileId, filename, score, text, attributes, storeId }) => ({
        fileId,
        title: filename,
        score,
        text,
        attributes: { ...attributes },
        storeId,
      })),
    },
    usage: { fileSearches: 1 },
  };
}

/** Reads the queries of a model's arguments. Some models write one text instead of the list. */
function readQueries(args: JsonObject): readonly string[] {
  const queries = args['queries'] ?? args['query'];
  const list = Array.isArray(queries) ? queries : [queries];
  return list.filter((query): query is string => typeof query === 'string' && query.trim() !== '').slice(0, queriesMax);
}
