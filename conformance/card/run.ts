import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { evaluateRows } from './evaluate-rows.ts';
import { readReport } from './read-report.ts';
import { cardRows } from './rows.ts';
import { type CardOrigin, compareCards, keepCard, type KeptCard, writeCard } from './write-card.ts';

/**
 * `npm run card` runs the suites of all rows and writes the reliability card. `--long` runs them in the sizes of a
 * release, which takes hours. `--report <file>` takes the output of suites that ran already, and `--check` compares
 * it with the committed card instead of writing one: so does CI with the output of its tests. The exit code is the
 * verdict.
 */
const { values } = parseArgs({
  options: {
    report: { type: 'string' },
    check: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const root = join(import.meta.dirname, '../..');
const [page, figures] = [join(root, 'docs/reference/reliability-card.md'), join(root, 'conformance/card/kept-card.json')];
const only = values.only?.split(',');
const rows = cardRows.filter(({ id }) => only?.includes(id) ?? true);

/** Sizes of a release; the suites have smaller ones of their own. */
const longSizes = {
  WEIR_DEEP: '1',
  WEIR_LONG: '1',
  WEIR_KILLS: '10000',
  WEIR_STALLED_CLIENTS: '1000',
  WEIR_STALLED_MS: '25000',
  WEIR_SLOW_CLIENTS: '5000',
  WEIR_ROLL_RATE: '200',
  WEIR_ROLLS: '3',
  WEIR_SIMULATED_WORLDS: '40',
  WEIR_FUZZED_REQUESTS: '1000000',
};

/** Runs suites, first those that may share the machine. Suites with time limits of their own run alone. */
async function runSuites(report: string): Promise<void> {
  const files = [...new Set(rows.flatMap(({ proofs }) => proofs.map(({ file }) => file)))];
  const isTimed = (file: string): boolean => file.includes('.timing.');
  const run = async (atOnce: number, chosen: readonly string[]): Promise<void> => {
    if (chosen.length === 0) return;
    const limit = values.long ? '86400000' : '600000';
    const child = spawn(process.execPath, ['checks/suites/run-suites.ts', '--at-once', String(atOnce), '--limit-ms', limit, ...chosen], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...(values.long ? longSizes : {}), WEIR_SUITE_REPORT: report },
    });
    await new Promise((resolve) => void child.once('close', resolve));
  };
  await run(
    Math.max(1, availableParallelism()),
    files.filter((file) => !isTimed(file)),
  );
  await run(1, files.filter(isTimed));
}

function describeOrigin(): CardOrigin {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const machine = `${cpus().length} processors (${cpus()[0]?.model.trim() ?? 'unknown'})`;
  const day = new Date().toISOString().slice(0, 10);
  return { version, commit, day, node: process.versions.node, machine, form: values.long ? 'long' : 'short' };
}

const folder = mkdtempSync(join(tmpdir(), 'weir-card-'));
try {
  const report = values.report ?? join(folder, 'report.txt');
  if (values.report === undefined) await runSuites(report);
  const results = evaluateRows(rows, readReport(readFileSync(report, 'utf8'), root));
  const kept = values.check ? (JSON.parse(readFileSync(figures, 'utf8')) as KeptCard) : keepCard([], describeOrigin());
  const problems = compareCards(results, kept);
  if (!values.check && only === undefined) {
    writeFileSync(page, writeCard(results, kept.origin));
    writeFileSync(figures, `${JSON.stringify(keepCard(results, kept.origin), undefined, 2)}\n`);
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${results.length} promises, ${problems.length} problems\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
