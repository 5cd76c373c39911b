import { Compile } from 'typebox/schema';
import { convertEntry } from './convert-currency.ts';
import { entryProblems } from './entry-problems.ts';
import { entrySchema, headSchema, type PriceBookData, type PriceBookEntry } from './price-book-schema.ts';

export type { PriceBookData, PriceBookEntry } from './price-book-schema.ts';

/** A price book or price override that cannot be used. `problems` has every problem with its place. */
export class PriceBookError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The price book cannot be used: ${problems.join(' ')}`);
    this.name = 'PriceBookError';
    this.problems = problems;
  }
}

const headValidator = Compile(headSchema);
const entryValidator = Compile(entrySchema);

/**
 * Checks a price book from a file and converts its prices to USD. Throws PriceBookError with every problem: unknown
 * members, prices that are not plain decimals, tiers that do not start at 0 or do not rise, windows that begin twice or
 * overlap, names of two models, invalid expressions.
 */
export function parsePriceBook(json: unknown): PriceBookData {
  if (!headValidator.Check(json)) throw new PriceBookError(describe(headValidator.Errors(json)[1], ''));
  const { version, currency, usdPerUnit } = json;
  const problems: string[] = [];
  if (currency !== 'USD' && usdPerUnit === undefined) problems.push(`/usdPerUnit is missing: how many USD one ${currency} is.`);
  if (currency === 'USD' && usdPerUnit !== undefined) problems.push('/usdPerUnit is for other currencies than USD.');
  const entries: PriceBookEntry[] = [];
  for (const [index, entry] of json.entries.entries()) {
    // Entry by entry, because the validator stops after a few errors and each problem must be named.
    if (entryValidator.Check(entry)) entries.push(entry);
    else problems.push(...describe(entryValidator.Errors(entry)[1], `/entries/${index}`));
  }
  problems.push(...entryProblems(entries));
  if (problems.length > 0) throw new PriceBookError(problems);
  return {
    version,
    currency: 'USD',
    entries: usdPerUnit === undefined ? entries : entries.map((entry) => convertEntry(entry, usdPerUnit)),
  };
}

function describe(errors: ReturnType<typeof entryValidator.Errors>[1], prefix: string): string[] {
  return errors.map((error) => {
    const extra = error.keyword === 'additionalProperties' ? ` (${error.params.additionalProperties.join(', ')})` : '';
    return `${prefix}${error.instancePath || '/'} ${error.message}${extra}.`;
  });
}
