#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

import { findBundle } from './build/find-bundle.js';

// Runs the bundle that the installation or `npm run bundle` has made of the sources, or the sources if there is no bundle
// of them. This file is JavaScript, because the first TypeScript file of a process costs 70 ms and 17 MB.

const bundle = findBundle(new URL('./', import.meta.url));
if (bundle !== undefined) enableCompileCache(fileURLToPath(new URL('compiled', bundle)));
const program = bundle === undefined ? './src/main/run-command-line.ts' : new URL('run-command-line.js', bundle).href;
const { runCommandLine } = await import(program);
await runCommandLine(process.argv.slice(2), process.env);
