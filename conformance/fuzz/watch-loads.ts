import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

import { prepare as preparePage, run as runPage } from '../../src/tools/extract-page-job.ts';
import { prepare as prepareFile, run as runFile } from '../../src/tools/file-search/extraction/extraction-job.ts';
import { makePdf } from '../files/documents.ts';

/** Does one job on a PDF in a new thread, and reports which modules were loaded while it ran. */
export type LoadReport = { readonly isRead: boolean; readonly loaded: readonly string[] };

const bytes = new Uint8Array(makePdf(['Words on a page']));
const file = { bytes, filename: 'file.pdf', charactersMax: 1_000_000, chunking: { isAuto: true, tokensMax: 800, overlapTokens: 400 } };
const page = { bytes, mediaType: 'pdf', charset: undefined } as const;
const ask = async (): Promise<void> => {};
const jobs = {
  file: { prepare: () => prepareFile(file), run: () => runFile(file, { ask }) },
  page: { prepare: () => preparePage(page), run: () => runPage(page, { ask }) },
} as const;
export type JobName = keyof typeof jobs;

const { prepare, run } = jobs[workerData as JobName];
await prepare();
const loaded: string[] = [];
registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    loaded.push(found.url);
    return found;
  },
});
const isRead = (await run()) !== undefined;
parentPort?.postMessage({ isRead, loaded } satisfies LoadReport);
