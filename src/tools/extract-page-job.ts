import type { JobContext } from '../platform/isolation/isolated-job.ts';
import { extractPage, isPdf, type ExtractedPage, type RawPage } from './extract-page.ts';

/** Half a megabyte of program, which only threads load that meet a PDF. */
export async function prepare(page: RawPage): Promise<void> {
  if (isPdf(page)) await (await import('unpdf')).getResolvedPDFJS();
}

/** Reads a page. A quick reading is handed over first: it is what is left where the thorough one takes too long. */
export async function run(page: RawPage, { ask }: JobContext<ExtractedPage, void>): Promise<ExtractedPage | undefined> {
  return await extractPage(page, (draft) => void ask(draft));
}
