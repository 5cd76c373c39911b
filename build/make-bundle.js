import { resolve } from 'node:path';

import { buildProgram } from './build-program.js';

// Makes the bundle that `weir.js` runs: `npm run bundle`. Another folder may be named.
const root = resolve(import.meta.dirname, '..');
await buildProgram(root, resolve(root, process.argv[2] ?? '.build'));
