import type { ExpressionPurpose } from './expressions/check-expression.ts';
import { compileExpression } from './expressions/compile-expression.ts';
import { ExpressionError } from './expressions/expression-node.ts';
import type { PriceBookEntry } from './price-book-schema.ts';

/** The name of an entry in messages and receipts. */
export function entryId({ vendor, model, effectiveFrom, variant }: PriceBookEntry): string {
  return `${vendor}/${model}@${effectiveFrom}${variant === undefined ? '' : `#${variant}`}`;
}

/** The problems of entries that match the schema, of each one and of all together. */
export function entryProblems(entries: readonly PriceBookEntry[]): string[] {
  return [
    ...entries.flatMap((entry) =>
      [...contentProblems(entry), ...tierProblems(entry), ...dateProblems(entry), ...expressionProblems(entry)].map(
        (problem) => `${entryId(entry)}: ${problem}`,
      ),
    ),
    ...variantProblems(entries),
    ...overlapProblems(entries),
    ...nameProblems(entries),
  ];
}

function contentProblems({ tiers, media, fees, lines, multipliers }: PriceBookEntry): string[] {
  const problems: string[] = [];
  if (tiers === undefined && media === undefined && fees === undefined && lines === undefined)
    problems.push('it has neither tiers nor media, fees or lines, so it prices nothing.');
  for (const [list, names] of [
    ['multipliers', multipliers?.map(({ name }) => name)],
    ['lines', lines?.map(({ meter }) => meter)],
  ] as const) {
    const twice = names?.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) problems.push(`${list} has "${twice}" twice.`);
  }
  return problems;
}

function tierProblems({ tiers }: PriceBookEntry): string[] {
  const problems: string[] = [];
  if (tiers !== undefined && tiers[0]?.inputAbove !== 0) problems.push('the first tier must begin at inputAbove 0.');
  tiers?.forEach((tier, index) => {
    const before = tiers[index - 1];
    if (before !== undefined && tier.inputAbove <= before.inputAbove)
      problems.push(`tier ${index} must begin above tier ${index - 1} (${before.inputAbove}), not at ${tier.inputAbove}.`);
  });
  return problems;
}

function dateProblems(entry: PriceBookEntry): string[] {
  const problems: string[] = [];
  for (const member of ['effectiveFrom', 'effectiveUntil', 'released', 'checked'] as const) {
    const value = entry[member];
    if (value !== undefined && !isCalendarDate(value)) problems.push(`${member} ${value} is not a date of the calendar.`);
  }
  const { effectiveFrom, effectiveUntil } = entry;
  if (effectiveUntil !== undefined && effectiveUntil <= effectiveFrom)
    problems.push(`effectiveUntil ${effectiveUntil} must be after effectiveFrom ${effectiveFrom}.`);
  return problems;
}

function isCalendarDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function expressionProblems({ when, multipliers = [], lines = [] }: PriceBookEntry): string[] {
  return [
    ...expressionProblem('when', when, 'condition'),
    ...multipliers.flatMap(({ name, when: condition, factor }) => [
      ...expressionProblem(`multiplier ${name}, when`, condition, 'condition'),
      ...expressionProblem(`multiplier ${name}, factor`, factor, 'number'),
    ]),
    ...lines.flatMap(({ meter, when: condition, quantity }) => [
      ...expressionProblem(`line ${meter}, when`, condition, 'condition'),
      ...expressionProblem(`line ${meter}, quantity`, quantity, 'number'),
    ]),
  ];
}

/** The values are stored with the call. */
const pointersMax = 8;

function expressionProblem(place: string, text: string | undefined, purpose: ExpressionPurpose): string[] {
  if (text === undefined) return [];
  try {
    const { pointers } = compileExpression(text, purpose);
    return pointers.length > pointersMax ? [`${place}: it reads more than ${pointersMax} values of the request.`] : [];
  } catch (error) {
    if (error instanceof ExpressionError) return [`${place}: ${error.message}.`];
    throw error;
  }
}

const windowOf = ({ vendor, model, effectiveFrom }: PriceBookEntry): string => `${vendor}/${model}@${effectiveFrom}`;

/** A window has one price without a condition, and any number of variants with one. */
function variantProblems(entries: readonly PriceBookEntry[]): string[] {
  const problems: string[] = [];
  for (const [window, variants] of Map.groupBy(entries, windowOf)) {
    const plain = variants.filter(({ when }) => when === undefined);
    if (plain.length === 0) problems.push(`${window}: all its entries have a condition; one without is needed for when none holds.`);
    if (plain.length > 1) problems.push(`${window}: this window is listed twice.`);
    const conditional = variants.filter(({ when }) => when !== undefined);
    if (conditional.some(({ variant }) => variant === undefined))
      problems.push(`${window}: an entry with a condition needs a variant name.`);
    const names = conditional.map(({ variant }) => variant);
    if (new Set(names).size < names.length) problems.push(`${window}: two of its entries have the same variant name.`);
  }
  return problems;
}

function overlapProblems(entries: readonly PriceBookEntry[]): string[] {
  const problems: string[] = [];
  for (const windows of Map.groupBy(entries, ({ vendor, model }) => `${vendor}/${model}`).values()) {
    const starts = [...new Set(windows.map(({ effectiveFrom }) => effectiveFrom))].toSorted();
    for (const entry of windows) {
      const next = starts.find((start) => start > entry.effectiveFrom);
      if (entry.effectiveUntil !== undefined && next !== undefined && entry.effectiveUntil > next)
        problems.push(`${entryId(entry)}: it is valid until ${entry.effectiveUntil} and overlaps the window that begins on ${next}.`);
    }
  }
  return problems;
}

function nameProblems(entries: readonly PriceBookEntry[]): string[] {
  const owners = new Map<string, string>();
  return entries.flatMap((entry) =>
    [entry.model, ...(entry.aliases ?? [])].flatMap((spelling) => {
      const key = `${entry.vendor}/${spelling}`;
      const owner = owners.get(key);
      owners.set(key, owner ?? entry.model);
      return owner === undefined || owner === entry.model ? [] : [`${entryId(entry)}: the name ${key} already belongs to ${owner}.`];
    }),
  );
}
