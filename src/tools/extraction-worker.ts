import { parentPort } from 'node:worker_threads';

import { extractPage, type ExtractedPage, type RawPage } from './extract-page.ts';

/** What the thread says: `ready` once, and of each page that it was given perhaps a `draft` and then one of the others. */
export type ExtractionMessage =
  | { readonly type: 'ready' }
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

say({ type: 'ready' });
