import type { JobContext } from '../platform/isolation/isolated-job.ts';
import { extractPage, isPdf, type ExtractedPage, type RawPage } from './extract-page.ts';

/** Loads half a megabyte of code, only in threads that receive a PDF. */
export async function prepare(page: RawPage): Promise<void> {
  if (isPdf(page)) await (await import('unpdf')).getResolvedPDFJS();
}

/** Reads a page. It sends a quick reading first, which remains if the thorough reading takes too long. */
export async function run(page: RawPage, { ask }: JobContext<ExtractedPage, void>): Promise<ExtractedPage | undefined> {
  return await extractPage(page, (draft) => void ask(draft));
}
