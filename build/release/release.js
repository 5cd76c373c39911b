import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';

import { makePackage } from './make-package.js';

// `npm run release` makes the artefacts of a release in `dist`, or in the folder that is named.
const folder = resolve(process.argv[2] ?? resolve(import.meta.dirname, '../../dist'));
mkdirSync(folder, { recursive: true });
const made = [await makePackage(folder)];
const sums = made.map((path) => `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${basename(path)}\n`);
writeFileSync(resolve(folder, 'SHA256SUMS'), sums.join(''));
for (const path of made) process.stdout.write(`${path}\n`);
