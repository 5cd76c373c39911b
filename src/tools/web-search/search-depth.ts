import type { WebSearchTool } from '../../inference/inference-request.ts';

/** How much of the results reaches the model. */
export type SearchDepth = {
  readonly sources: number;
  /** How many of the best results are read. The others have the service's snippet. */
  readonly pages: number;
  readonly charactersPerPage: number;
};

/** About 1,500, 6,000 and 18,000 tokens in total. */
const depths: Readonly<Record<NonNullable<WebSearchTool['contextSize']>, SearchDepth>> = {
  low: { sources: 4, pages: 2, charactersPerPage: 2_000 },
  medium: { sources: 7, pages: 4, charactersPerPage: 5_000 },
  high: { sources: 12, pages: 6, charactersPerPage: 10_000 },
};

/** @param limits the operator's upper limits */
export function depthOf(
  contextSize: WebSearchTool['contextSize'],
  limits: { readonly resultsMax?: number; readonly pagesMax?: number },
): SearchDepth {
  const { sources, pages, charactersPerPage } = depths[contextSize ?? 'medium'];
  const most = Math.min(sources, limits.resultsMax ?? sources);
  return { sources: most, pages: Math.min(pages, limits.pagesMax ?? pages, most), charactersPerPage };
}
