import { resolve } from 'node:path';

import { findBundle } from './find-bundle.js';

// Makes the bundle that `weir.js` runs: `npm run bundle`. Another folder may be named. A bundle of the same sources stays.
const root = resolve(import.meta.dirname, '..');
const folder = process.argv[2];
if (folder !== undefined || findBundle(new URL('../', import.meta.url)) === undefined) {
  const { buildProgram } = await import('./build-program.js');
  await buildProgram(root, resolve(root, folder ?? '.build'));
}
