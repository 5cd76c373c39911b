// Runs the sources, also if a bundle of them exists: a preload of a benchmark replaces modules of the sources.
import { runCommandLine } from './run-command-line.ts';

await runCommandLine(process.argv.slice(2), process.env);
