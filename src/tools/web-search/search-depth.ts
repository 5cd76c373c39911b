import type { WebSearchTool } from '../../inference/inference-request.ts';

/** How much of what is found reaches the model. */
export type SearchDepth = {
  readonly sources: number;
  /** The best so many are read; of the others there is what the service says of them. */
  readonly pages: number;
  readonly charactersPerPage: number;
};

/** Some 1,500, 6,000 and 18,000 tokens in all. */
const depths: Readonly<Record<NonNullable<WebSearchTool['contextSize']>, SearchDepth>> = {
  low: { sources: 4, pages: 2, charactersPerPage: 2_000 },
  medium: { sources: 7, pages: 4, charactersPerPage: 5_000 },
  high: { sources: 12, pages: 6, charactersPerPage: 10_000 },
};

/** @param limits what the operator allows at most */
export function depthOf(
  contextSize: WebSearchTool['contextSize'],
  limits: { readonly resultsMax?: number; readonly pagesMax?: number },
): SearchDepth {
  const { sources, pages, charactersPerPage } = depths[contextSize ?? 'medium'];
  const most = Math.min(sources, limits.resultsMax ?? sources);
  return { sources: most, pages: Math.min(pages, limits.pagesMax ?? pages, most), charactersPerPage };
}
