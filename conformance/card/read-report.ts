import { relative } from 'node:path';

/** The outcome of one suite: the titles of its tests, and everything that it printed. */
export type SuiteReport = {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
  readonly lines: readonly string[];
};

const fileTitle = /^▶ (\/.+\.test\.ts)$/;
const fileEnd = /^[✔✖] (\/.+\.test\.ts) \([\d.]+ms\)/;
const testLine = /^(\s+)([✔✖﹣]) (.*?)(?: \([\d.]+ms\))?(?: # .*)?$/;
const groupLine = /^(\s+)▶ (.*)$/;

/**
 * Reads the output of suites, as `checks/suites/run-suites.ts` writes it to the file WEIR_SUITE_REPORT. Titles of tests
 * have those of their groups before them. A suite that ran twice has its last outcome.
 * @param root directory of the repository, which the paths of the report begin with
 */
export function readReport(text: string, root: string): ReadonlyMap<string, SuiteReport> {
  const suites = new Map<string, SuiteReport>();
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    if (fileTitle.test(line)) lines = [];
    else if (fileEnd.test(line)) {
      const [, path = ''] = fileEnd.exec(line) ?? [];
      suites.set(relative(root, path), readSuite(lines));
      lines = [];
    } else lines.push(line);
  }
  return suites;
}

function readSuite(lines: readonly string[]): SuiteReport {
  const outcomes = { '✔': [] as string[], '✖': [] as string[], '﹣': [] as string[] };
  /** The titles of the groups that a line is in, by their indentation. */
  const groups: { readonly indent: number; readonly title: string }[] = [];
  for (const line of lines) {
    const [, opened, group = ''] = groupLine.exec(line) ?? [];
    if (opened !== undefined) {
      groups.push({ indent: opened.length, title: group });
      continue;
    }
    const [, indent, mark, title = ''] = testLine.exec(line) ?? [];
    if (indent === undefined || !isMark(mark)) continue;
    // The line of a group repeats its title after its tests.
    if (groups.at(-1)?.indent === indent.length && groups.at(-1)?.title === title) groups.pop();
    else outcomes[mark].push([...groups.map((each) => each.title), title].join(': '));
  }
  return { passed: outcomes['✔'], failed: outcomes['✖'], skipped: outcomes['﹣'], lines };
}

const isMark = (mark: string | undefined): mark is '✔' | '✖' | '﹣' => mark === '✔' || mark === '✖' || mark === '﹣';
