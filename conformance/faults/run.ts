import { parseArgs } from 'node:util';

import { bombFigures } from '../chaos/bomb-figures.ts';
import type { Lane } from '../chaos/chaos-bench.ts';
import { type Figure, writeTable } from '../chaos/figures.ts';
import { allDeadFigures, cutFigures, deadLanes, lanes, oneDeadFigures } from '../chaos/outage-figures.ts';
import { suiteFigure, suites } from '../chaos/suite-figures.ts';
import { overloadFigures } from '../overload/overload-figures.ts';
import { faultTableFigures } from './fault-table-figures.ts';

/**
 * Measures the promises of docs/reference/reliability.md, and prints the table. The short form takes two minutes,
 * `--long` about half an hour; `--only R3,R4` measures some rows. The exit code says whether every bound was met.
 */
const { values } = parseArgs({ options: { long: { type: 'boolean', default: false }, only: { type: 'string' } } });
const isLong = values.long;

/** For a machine with other load. */
const slackMs = 300;

const timeouts = isLong ? { connectMs: 3000, firstByteMs: 10_000, idleMs: 10_000 } : { connectMs: 1000, firstByteMs: 2000, idleMs: 2000 };

async function oneDead(): Promise<readonly Figure[]> {
  const common = { timeouts, addedMsMax: () => timeouts.connectMs };
  if (!isLong) {
    // Among a few dozen calls, the slowest found a silent connection.
    const addedMsMax = ({ death }: Lane): number =>
      death === 'stall' || death === 'black-hole' ? timeouts.firstByteMs + slackMs : timeouts.connectMs;
    return oneDeadFigures({ ...common, addedMsMax, lanes, perLanePerSecond: 10, wellSeconds: 3, deadSeconds: 6, backSeconds: 16 });
  }
  const figures: Figure[] = [];
  // One after the other, so that they do not compete for the machine.
  for (const lane of lanes) {
    const options = { ...common, lanes: [lane], perLanePerSecond: 100, wellSeconds: 10, deadSeconds: 60, backSeconds: 42 };
    figures.push(...(await oneDeadFigures(options)));
  }
  return figures;
}

async function allDead(): Promise<readonly Figure[]> {
  // Every call is made once: a call without an answer ends when its time-out ends.
  const knownAnswerMsMax =
    (answeredMs: number) =>
    ({ death }: Lane): number =>
      answeredMs + (death === 'stall' || death === 'black-hole' ? timeouts.firstByteMs + slackMs : 0);
  const common = {
    timeouts,
    knownAnswerMsMax: knownAnswerMsMax(10),
    firstAnswerMsMax: 2 * timeouts.firstByteMs + slackMs,
    memoryGrowthBytesMax: 32 * 1024 * 1024,
  };
  if (!isLong) {
    const options = { ...common, lanes: deadLanes, perLanePerSecond: 20, deadSeconds: 8, knownAfterSeconds: 5, backSeconds: 12 };
    return allDeadFigures({ ...options, knownAnswerMsMax: knownAnswerMsMax(100) });
  }
  const figures: Figure[] = [];
  for (const lane of deadLanes) {
    const options = { ...common, lanes: [lane], perLanePerSecond: 100, deadSeconds: 60, knownAfterSeconds: 25, backSeconds: 42 };
    figures.push(...(await allDeadFigures(options)));
  }
  return figures;
}

const others = suites(isLong).map((suite) => ({ row: suite.row, measure: async () => [await suiteFigure(suite)] }));

const measurements: readonly { readonly row: string; readonly measure: () => Promise<readonly Figure[]> }[] = [
  { row: 'R3', measure: oneDead },
  { row: 'R4', measure: allDead },
  { row: 'R5', measure: () => faultTableFigures(isLong ? ['same', 'translated'] : ['same']) },
  { row: 'R5', measure: () => cutFigures({ cutsPerReply: isLong ? 150 : 20 }) },
  { row: 'R9', measure: () => bombFigures({ unpackedBytes: (isLong ? 1024 : 100) * 1024 * 1024, atOnce: 8 }) },
  { row: 'R10', measure: () => overloadFigures(isLong) },
  ...others,
];

const wanted = values.only?.split(',');
const figures: Figure[] = [];
for (const { row, measure } of measurements) {
  if (wanted !== undefined && !wanted.includes(row)) continue;
  const found = await measure().catch((error: unknown): readonly Figure[] => [
    { row, what: 'could not be measured', measured: '', gate: '', isMet: false, examples: [String(error)] },
  ]);
  figures.push(...found);
  for (const { what, isMet, examples = [] } of found) {
    if (!isMet) process.stderr.write(`${row}, ${what}\n${examples.map((example) => `  ${example}\n`).join('')}`);
  }
}
process.stdout.write(`${writeTable(figures.toSorted((left, right) => Number(left.row.slice(1)) - Number(right.row.slice(1))))}\n`);
process.exitCode = figures.every(({ isMet }) => isMet) ? 0 : 1;
