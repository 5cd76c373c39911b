import type { Usage } from '../../inference/usage.ts';

/** The names of counts as receipts write them: `cacheWrite5mTokens` is `cache_write_5m_tokens`. */
export function writeCounts(counts: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(counts).flatMap(([name, count]) => (count === undefined ? [] : [[writeName(name), count] as const])),
  );
}

/** The counts of a receipt by the names that rating knows them by. */
export function readCounts(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [readName(name), count]));
}

const names: Readonly<Record<keyof Usage, true>> = {
  inputTokens: true,
  cacheReadTokens: true,
  cacheWrite5mTokens: true,
  cacheWrite1hTokens: true,
  outputTokens: true,
  reasoningTokens: true,
  inputAudioTokens: true,
  cacheReadAudioTokens: true,
  outputAudioTokens: true,
  inputImageTokens: true,
  cacheReadImageTokens: true,
  outputImageTokens: true,
  webSearches: true,
  inputCharacters: true,
  inputAudioMs: true,
  outputVideoMs: true,
  inputImages: true,
  outputAudioMs: true,
  outputImages: true,
  webFetches: true,
  fileSearches: true,
  toolCalls: true,
  codeSessions: true,
};

/** Whether a receipt has a count of this name. */
export function isCountName(name: string): boolean {
  return Object.keys(names).some((known) => writeName(known) === name);
}

function writeName(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?:[A-Z]|[0-9]+)/g, (part) => `_${part.toLowerCase()}`);
}

function readName(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
