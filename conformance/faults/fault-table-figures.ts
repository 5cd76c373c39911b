import type { Figure } from '../chaos/figures.ts';
import { allModes } from './fault-bench.ts';
import { afterContent, beforeContent, type FaultRow, refusals, tooLarge } from './fault-rows.ts';
import {
  assertHonest,
  assertInvisible,
  assertRefused,
  assertTooLarge,
  casesOf,
  type Fallback,
  type FaultCase,
  type Seen,
  startTwoTargets,
  type TwoTargets,
} from './two-targets.ts';

const atOnce = 8;

type Part = {
  readonly what: string;
  readonly gate: string;
  readonly rows: readonly FaultRow[];
  readonly check: (which: FaultCase, seen: Seen) => void;
};

const parts: readonly Part[] = [
  { what: 'before content: the client does not notice', gate: 'all', rows: beforeContent, check: assertInvisible },
  { what: 'after content: one proper error event, no second attempt', gate: 'all', rows: afterContent, check: assertHonest },
  { what: "the caller's mistakes are reported unchanged", gate: 'all', rows: refusals, check: assertRefused },
  { what: 'answers that are too large are not requested again', gate: 'all', rows: tooLarge, check: assertTooLarge },
];

/** R5: the upstream fault table, as figures. */
export async function faultTableFigures(fallbacks: readonly Fallback[]): Promise<readonly Figure[]> {
  const cases = parts.map(({ rows }) => casesOf(rows, allModes, fallbacks));
  await using bench = await startTwoTargets(cases.flat());
  const figures: Figure[] = [];
  for (const [index, part] of parts.entries()) figures.push(await runPart(bench, part, cases[index] ?? []));
  return figures;
}

async function runPart(bench: TwoTargets, { what, gate, rows, check }: Part, cases: readonly FaultCase[]): Promise<Figure> {
  const wrong: string[] = [];
  const waiting = [...cases];
  const worker = async (): Promise<void> => {
    for (let which = waiting.shift(); which !== undefined; which = waiting.shift()) {
      try {
        check(which, await bench.run(which));
      } catch (error) {
        const reason = error instanceof Error ? error.message.slice(0, 300) : String(error);
        wrong.push(`${which.row.name}, ${which.mode.title}, ${which.fallback}: ${reason}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return {
    row: 'R5',
    what: `${rows.length} faults in every dialect, whole and streamed, ${what}`,
    measured: `${cases.length - wrong.length} of ${cases.length}`,
    gate,
    isMet: wrong.length === 0,
    examples: wrong,
  };
}
