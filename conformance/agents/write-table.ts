import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { AgentProgram } from './agent-program.ts';
import type { AgentUpstream } from './benches.ts';
import { agentTasks, type AgentTask } from './tasks.ts';

/** The outcome of one task of a program at an upstream. */
export type SeenOutcome = {
  readonly program: string;
  readonly version: string;
  readonly upstream: string;
  readonly task: AgentTask['title'];
  readonly passed: boolean;
};

/** The page with the table between its two marks; the rest of it is written by hand. */
const page = join(import.meta.dirname, '../../docs/reference/agent-programs.md');

const begin = '<!-- Observed: written by `npm run test:agents -- --write`. Do not edit. -->';
const end = '<!-- The end of what was observed. -->';

/** Adds outcomes to a file of them. A new outcome replaces the older one of the same task. */
export function keepOutcomes(file: string, outcomes: readonly SeenOutcome[]): readonly SeenOutcome[] {
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly SeenOutcome[]) : [];
  const keyOf = ({ program, upstream, task }: SeenOutcome): string => `${program} / ${upstream} / ${task}`;
  const all = [...new Map([...known, ...outcomes].map((outcome) => [keyOf(outcome), outcome])).values()];
  writeFileSync(file, JSON.stringify(all, undefined, 2));
  return all;
}

/** The outcome of a program at an upstream, in a word. */
function cell(seen: readonly SeenOutcome[], program: AgentProgram, upstream: AgentUpstream): string {
  const [text, loop] = agentTasks.map(
    (task) =>
      seen.find(
        (one) =>
          one.program === program.title && one.upstream === upstream.name && one.task === task.title && one.version === program.version,
      )?.passed,
  );
  if (text === undefined || loop === undefined) return 'not tried';
  if (text && loop) return 'works';
  return text ? 'text only' : loop ? 'tools only' : 'fails';
}

/** A table of what was seen: a row for each program, a column for each upstream. */
export function renderTable(seen: readonly SeenOutcome[], programs: readonly AgentProgram[], upstreams: readonly AgentUpstream[]): string {
  const tried = programs.filter(({ title }) => seen.some(({ program }) => program === title));
  const rows = [
    ['Program', 'Version', ...upstreams.map(({ title }) => title)],
    ['---', '---', ...upstreams.map(() => '---')],
    ...tried.map((program) => [program.title, program.version, ...upstreams.map((upstream) => cell(seen, program, upstream))]),
  ];
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Writes a table into the page. Throws if the page has lost its marks. */
export function writeTable(table: string): void {
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`${page} has lost the marks around the table`);
  writeFileSync(page, `${text.slice(0, from)}${begin}\n\n${table}\n\n${text.slice(to)}`);
}
