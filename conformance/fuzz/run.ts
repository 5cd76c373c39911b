import { parseArgs } from 'node:util';

import { fuzzParser, openParsers } from './fuzz-parsers.ts';
import { fuzzScanner } from './fuzz-scanner.ts';

/**
 * Gives every parser of untrusted bytes 10^5 broken files, or as many as `--cases` says; `--parser` selects one. The
 * parser `json-scanner` is compared with a second one. The exit code is the verdict.
 */
const { values } = parseArgs({
  options: { cases: { type: 'string', default: '100000' }, parser: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
/**
 * The most processor time between two turns of the event loop: what a case costs there, and what the test itself adds.
 * Other programs of the machine do not count.
 */
const busyMsMax = 250;

/** Short, so that 10^5 cases with many endless loops come to an end. */
const limitMs = 300;

if (values.parser === undefined || values.parser === 'json-scanner')
  process.stdout.write(`${JSON.stringify(fuzzScanner(Number(values.cases), Number(values.seed)))}\n`);

const { parsers, close } = openParsers(limitMs);
let isGood = true;
for (const [name, parser] of Object.entries(parsers)) {
  if (values.parser !== undefined && values.parser !== name) continue;
  const report = await fuzzParser(name, parser, Number(values.cases), Number(values.seed));
  process.stdout.write(`${JSON.stringify(report)}\n`);
  isGood &&= report.busiestMs < busyMsMax;
}
await close();
process.exitCode = isGood ? 0 : 1;
