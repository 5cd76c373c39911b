import type { JobContext } from '../platform/isolation/isolated-job.ts';
import { extractPage, type ExtractedPage, type RawPage } from './extract-page.ts';

/** Reads a page. A quick reading is handed over first: it is what is left where the thorough one takes too long. */
export async function run(page: RawPage, { ask }: JobContext<ExtractedPage, void>): Promise<ExtractedPage | undefined> {
  return await extractPage(page, (draft) => void ask(draft));
}
