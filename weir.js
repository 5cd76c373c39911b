#!/usr/bin/env node
import nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

import { findBundle } from './build/find-bundle.js';

// Runs the bundle that the installation or `npm run bundle` has made, or the sources if there is none of them.
// This file is JavaScript: the first TypeScript file of a process costs 70 ms and 17 MB, and an old Node must be
// able to say what is wrong. `src/main/weir.ts` is a link to it.

const needed = 26;
const [major] = process.versions.node.split('.');
if (Number(major) < needed) {
  // eslint-disable-next-line no-console -- there is no logger yet
  console.error(
    `weir: Weir needs Node ${needed}, and this is Node ${process.versions.node}. npm ci installs the right one: use "npm start", "npm run weir -- <command>" or node_modules/.bin/node.`,
  );
  process.exit(1);
}
const bundle = findBundle(new URL('./', import.meta.url));
if (bundle !== undefined) nodeModule.enableCompileCache(fileURLToPath(new URL('compiled', bundle)));
const program = bundle === undefined ? './src/main/run-command-line.ts' : new URL('run-command-line.js', bundle).href;
const { runCommandLine } = await import(program);
await runCommandLine(process.argv.slice(2), process.env);
