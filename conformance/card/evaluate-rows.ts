import type { Bound, CardRow, Proof } from './card-row.ts';
import type { SuiteReport } from './read-report.ts';

/** The outcome of a row. */
export type RowResult = {
  readonly id: string;
  readonly promise: string;
  readonly passed: number;
  /** Tests that this machine cannot run, each with its reason in the output. */
  readonly skipped: number;
  readonly failed: readonly string[];
  /** Suites that did not run, for example because a server is not installed. */
  readonly missing: readonly string[];
  readonly figures: readonly string[];
  /** Numbers beyond their bound. */
  readonly exceeded: readonly string[];
  readonly notShown?: string;
};

export function evaluateRows(rows: readonly CardRow[], report: ReadonlyMap<string, SuiteReport>): readonly RowResult[] {
  return rows.map(({ id, promise, proofs, notShown }) => {
    const outcomes = proofs.map((proof) => evaluateProof(proof, report.get(proof.file)));
    return {
      id,
      promise,
      passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
      skipped: outcomes.reduce((sum, { skipped }) => sum + skipped, 0),
      failed: outcomes.flatMap(({ failed }) => failed),
      missing: proofs.filter((_, index) => outcomes[index]?.passed === 0).map(({ file }) => file),
      figures: outcomes.flatMap(({ figures }) => figures),
      exceeded: outcomes.flatMap(({ exceeded }) => exceeded),
      ...(notShown !== undefined && { notShown }),
    };
  });
}

type ProofResult = Pick<RowResult, 'passed' | 'skipped' | 'failed' | 'figures' | 'exceeded'>;

function evaluateProof({ file, title, figures, bounds = [] }: Proof, suite: SuiteReport | undefined): ProofResult {
  if (suite === undefined) return { passed: 0, skipped: 0, failed: [], figures: [], exceeded: [] };
  const isMeant = (test: string): boolean => title === undefined || title.test(test);
  const found = figures === undefined ? [] : suite.lines.flatMap((line) => figures.exec(line)?.[1]?.trim() ?? []);
  return {
    passed: suite.passed.filter(isMeant).length,
    skipped: suite.skipped.filter(isMeant).length,
    failed: suite.failed.filter(isMeant).map((test) => `${file}: ${test}`),
    figures: found,
    exceeded: found.flatMap((line) => bounds.flatMap((bound) => exceeds(bound, line))),
  };
}

function exceeds({ name, of, most }: Bound, line: string): readonly string[] {
  const number = Number(of.exec(line)?.[1] ?? Number.NaN);
  if (Number.isNaN(number)) return [`${name} is not in "${line}"`];
  return number > most ? [`${name} is ${number}, at most ${most}`] : [];
}

/** Whether a promise holds as far as it is shown. */
export const isKept = ({ passed, failed, exceeded, missing }: RowResult): boolean =>
  passed > 0 && failed.length === 0 && exceeded.length === 0 && missing.length === 0;
