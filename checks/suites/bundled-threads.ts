import { existsSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Transferable, Worker } from 'node:worker_threads';

import { root } from '../source-files.ts';

/**
 * Loaded before the suites of a run: Weir's threads run the bundle if there is one of these sources, as they do in the
 * programs that suites start. A run starts about two thousand threads, and most of the start of a thread is the loading
 * of its 150 sources.
 */
const address = pathToFileURL(`${root}/`);
const { findBundle } = (await import(new URL('build/find-bundle.js', address).href)) as { findBundle: (root: URL) => URL | undefined };
const bundle = findBundle(address);
const sources = ['src', 'simulator/src'].map((folder) => join(root, folder, '/'));

/** The bundled file of a thread's main file or of a job, or the address itself. */
function findBundled(main: string): string {
  if (bundle === undefined || !main.startsWith('file:')) return main;
  const path = fileURLToPath(main);
  if (!path.endsWith('.ts') || path.includes('/testing/') || !sources.some((folder) => path.startsWith(folder))) return main;
  const file = new URL(`${basename(path, '.ts')}.js`, bundle);
  return existsSync(file) ? file.href : main;
}

/** An order to an isolated job names the module of the job. */
function withBundledJob(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('moduleUrl' in message)) return message;
  return { ...message, moduleUrl: findBundled(String(message.moduleUrl)) };
}

const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof Worker };
threads.Worker = class extends threads.Worker {
  constructor(...[main, options]: ConstructorParameters<typeof Worker>) {
    super(main instanceof URL ? new URL(findBundled(main.href)) : main, options);
  }

  override postMessage(message: unknown, transferred?: readonly Transferable[]): void {
    super.postMessage(withBundledJob(message), transferred);
  }
};
syncBuiltinESMExports();
