import { parentPort } from 'node:worker_threads';

import { extractPage, type ExtractedPage, type RawPage } from './extract-page.ts';

/** What the thread says of the page that it was given: `draft` may come before one of the others. */
export type ExtractionMessage =
  | { readonly type: 'draft'; readonly page: ExtractedPage }
  | { readonly type: 'read'; readonly page: ExtractedPage | undefined }
  | { readonly type: 'failed'; readonly reason: string };

const say = (message: ExtractionMessage): void => parentPort?.postMessage(message);

parentPort?.on('message', (page: RawPage) => {
  extractPage(page, (draft) => say({ type: 'draft', page: draft })).then(
    (read) => say({ type: 'read', page: read }),
    (error: unknown) => say({ type: 'failed', reason: String(error) }),
  );
});
