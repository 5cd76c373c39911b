import type { BuiltInToolKind } from '../../../../inference/inference-request.ts';
import type { ToolUsage } from '../../../../inference/usage.ts';
import { pagesPerCallMax } from '../../../../tools/url-context/create-url-context.ts';
import { searchesPerCallMax } from '../../../../tools/web-search/read-queries.ts';
import type { ToolCall } from './run-tools.ts';

/** Each image is a call with a hold of its own. */
const meters: Readonly<Record<BuiltInToolKind, keyof ToolUsage | undefined>> = {
  'web-search': 'webSearches',
  'url-context': 'pagesRead',
  'file-search': 'fileSearches',
  'code-execution': 'codeExecutions',
  'image-generation': undefined,
};

const usesPerCall: Readonly<Record<BuiltInToolKind, number>> = {
  'web-search': searchesPerCallMax,
  'url-context': pagesPerCallMax,
  'file-search': 1,
  'code-execution': 1,
  'image-generation': 1,
};

/** What one call of a tool does at most: one call may search for several things, and read several pages. */
export function boundToolCall({ tool, arguments: args }: Pick<ToolCall, 'tool' | 'arguments'>): ToolUsage {
  const { kind } = tool;
  const meter = meters[kind];
  return meter === undefined ? {} : { [meter]: usesPerCall[kind] === 1 ? 1 : tool.readInput(args).length };
}

/** What so many calls do at most, were they all of one kind: one possibility for each. */
export function boundToolCalls(kinds: readonly BuiltInToolKind[], calls: number): readonly ToolUsage[] {
  return kinds.flatMap((kind) => {
    const meter = meters[kind];
    return meter === undefined ? [] : [{ [meter]: usesPerCall[kind] * calls }];
  });
}
