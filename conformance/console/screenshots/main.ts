import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { findChromium } from '../find-chromium.ts';
import { takeScreenshots } from './take.ts';

// `npm run docs:screenshots`
const chromium = findChromium();
if (chromium === undefined) throw new Error('There is no Chromium on this machine: apt-get install chromium');
const folder = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
await mkdir(folder, { recursive: true });
for (const file of await takeScreenshots(chromium, folder)) process.stdout.write(`docs/images/${file}\n`);
