import { isLong } from './scale.ts';

/**
 * The cases of a product of which the usual form of a suite runs a part: each pair of values that two factors have in
 * some case is in a chosen one too. With three factors or more that is a fraction of the product. A fault of one value
 * or of two that meet is found; one of three at once is found before a release, where WEIR_LONG=1 runs all cases.
 * The choice depends on nothing but the cases and their order.
 * @param factorsOf the values of a case, by which cases differ, as text
 */
export function coverPairs<Case>(cases: readonly Case[], factorsOf: (one: Case) => readonly string[]): readonly Case[] {
  if (isLong) return cases;
  const pairs = cases.map((one) => listPairs(factorsOf(one)));
  const open = new Set(pairs.flat());
  const chosen = new Set<number>();
  while (open.size > 0) {
    const gains = pairs.map((own) => own.filter((pair) => open.has(pair)).length);
    const best = gains.indexOf(Math.max(...gains));
    for (const pair of pairs[best] ?? []) open.delete(pair);
    chosen.add(best);
  }
  return cases.filter((_, index) => chosen.has(index));
}

/** With one factor, a case has one value, and each value is chosen once. */
function listPairs(values: readonly string[]): readonly string[] {
  if (values.length === 1) return values;
  return values.flatMap((value, at) => values.slice(at + 1).map((other, more) => `${at} ${value}, ${at + 1 + more} ${other}`));
}
