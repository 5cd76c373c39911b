import { isKept, type RowResult } from './evaluate-rows.ts';
import { type LongRun, longRuns } from './long-runs.ts';

/** What a card was made of. */
export type CardOrigin = {
  readonly version: string;
  readonly commit: string;
  readonly day: string;
  readonly node: string;
  readonly machine: string;
  /** The form of the run: short or long. */
  readonly form: string;
};

/** The committed figures of a card, with which CI compares its own. */
export type KeptCard = { readonly origin: CardOrigin; readonly rows: readonly { readonly id: string; readonly passed: number }[] };

const groups: readonly (readonly [string, string])[] = [
  ['M', 'Metering and money'],
  ['R', 'Availability'],
  ['S', 'Security'],
];

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The page. Each row says what is promised, how many tests showed it, and their figures. */
export function writeCard(rows: readonly RowResult[], origin: CardOrigin): string {
  const kept = rows.filter(isKept).length;
  const tables = groups.flatMap(([letter, title]) => [
    `## ${title}`,
    '',
    '| | Promise | Tests | Kept |',
    '|---|---|---|---|',
    ...rows
      .filter(({ id }) => id.startsWith(letter))
      .map((row) => `| ${row.id} | ${cell(row.promise)} | ${row.passed} | ${isKept(row) ? 'yes' : '**no**'} |`),
    '',
  ]);
  return [
    '# Reliability card',
    '',
    '<!-- Written by `npm run card`. Do not edit. -->',
    '',
    `Weir ${origin.version} (${origin.commit}), ${origin.form} form of ${origin.day}, on ${origin.machine}, Node.js ${origin.node}.`,
    `${kept} of ${rows.length} promises are kept as far as the tests show them. CI fails if one is not kept, or has fewer`,
    'tests than here ([how](../../conformance/card/README.md)).',
    '',
    ...tables,
    '## Figures',
    '',
    ...listFigures(rows),
    '',
    ...listLongRuns(longRuns),
    '## Not shown by this form',
    '',
    ...rows.flatMap(({ id, notShown }) => (notShown === undefined ? [] : [`- **${id}** ${notShown}`])),
    ...rows.flatMap(({ id, missing }) => missing.map((file) => `- **${id}** ${file} did not run`)),
    '',
  ].join('\n');
}

/** The longer runs, for the page. */
export const listLongRuns = (runs: readonly LongRun[]): readonly string[] => [
  '## Longer runs',
  '',
  'Each ran once, on a virtual machine with 2 processors (AMD EPYC), beside other programs that kept both busy.',
  '',
  ...runs.flatMap(({ id, day, result }) => wrap(`- **${id}** (${day}) ${result}`)),
  '',
];

/** Each figure once, with all rows that it belongs to. */
function listFigures(rows: readonly RowResult[]): readonly string[] {
  const owners = new Map<string, Set<string>>();
  for (const { id, figures } of rows) for (const figure of figures) owners.set(figure, (owners.get(figure) ?? new Set()).add(id));
  return ['```text', ...[...owners].flatMap(([figure, ids]) => wrap(`${[...ids].join(', ')}: ${figure}`)), '```'];
}

const columnsMax = 120;

/** A line cut at spaces; the lines that follow are indented. */
function wrap(line: string): readonly string[] {
  const cut = line.lastIndexOf(' ', columnsMax);
  if (line.length <= columnsMax || cut <= 2) return [line];
  return [line.slice(0, cut), ...wrap(`  ${line.slice(cut + 1)}`)];
}

export const keepCard = (rows: readonly RowResult[], origin: CardOrigin): KeptCard => ({
  origin,
  rows: rows.map(({ id, passed }) => ({ id, passed })),
});

/** The promises that are not kept, or that fewer tests show than in the committed card; empty if there is none. */
export function compareCards(rows: readonly RowResult[], kept: KeptCard): readonly string[] {
  const before = new Map(kept.rows.map(({ id, passed }) => [id, passed]));
  return rows.flatMap((row) => {
    const { id, passed, skipped, failed, exceeded, missing } = row;
    const fewer = passed + skipped < (before.get(id) ?? 0) ? [`${id}: ${passed} tests show it, ${before.get(id)} did before`] : [];
    return [
      ...failed.map((test) => `${id}: failed: ${test}`),
      ...exceeded.map((number) => `${id}: ${number}`),
      ...missing.map((file) => `${id}: no test of ${file} passed`),
      ...fewer,
    ];
  });
}
