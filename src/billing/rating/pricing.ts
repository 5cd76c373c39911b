import { inOnePiece } from '../../platform/json/in-one-piece.ts';
import { entryId } from './entry-problems.ts';
import { compileExpression, type Expression } from './expressions/compile-expression.ts';
import { isMoreExpensive } from './media-lines.ts';
import type { Fees, MediaPrices, PriceBookEntry, TokenPrices } from './price-book-schema.ts';
import { possiblePrices } from './token-lines.ts';

export type PricingTier = {
  readonly inputAbove: number;
  readonly prices: TokenPrices;
  /** The price of the most expensive kind of token, for input and for output. */
  readonly mostExpensiveInput: string;
  readonly mostExpensiveOutput: string;
};

type PricingMultiplier = {
  readonly name: string;
  readonly when: Expression | undefined;
  readonly factor: Expression;
  readonly of: 'tokens' | 'all';
};

type PricingLine = {
  readonly meter: string;
  readonly when: Expression | undefined;
  readonly quantity: Expression;
  readonly price: string;
  readonly per: number;
};

/** The compiled prices of one model at one time. */
export type Pricing = {
  readonly priceId: string;
  /** Absent: applies if no other price of its window does. */
  readonly when: Expression | undefined;
  /** By rising bound; empty if nothing is billed in tokens. */
  readonly tiers: readonly PricingTier[];
  readonly media: MediaPrices | undefined;
  readonly fees: Fees | undefined;
  readonly serviceTiers: Readonly<Record<string, string>> | undefined;
  readonly multipliers: readonly PricingMultiplier[];
  readonly lines: readonly PricingLine[];
  /** Every JSON pointer in its expressions. */
  readonly pointers: readonly string[];
};

/** Compiles an entry, which must be checked: an invalid expression throws ExpressionError. */
export function preparePricing(entry: PriceBookEntry): Pricing {
  const condition = (text: string | undefined): Expression | undefined =>
    text === undefined ? undefined : compileExpression(text, 'condition');
  const when = condition(entry.when);
  const multipliers = (entry.multipliers ?? []).map(({ name, when: text, factor, of = 'tokens' }) => ({
    name,
    when: condition(text),
    factor: compileExpression(factor, 'number'),
    of,
  }));
  const lines = (entry.lines ?? []).map(({ meter, when: text, quantity, price, per = 1 }) => ({
    meter,
    when: condition(text),
    quantity: compileExpression(quantity, 'number'),
    price,
    per,
  }));
  const expressions = [
    when,
    ...multipliers.flatMap((each) => [each.when, each.factor]),
    ...lines.flatMap((each) => [each.when, each.quantity]),
  ];
  return {
    priceId: inOnePiece(entryId(entry)),
    when,
    tiers: (entry.tiers ?? []).map(({ inputAbove, prices }) => prepareTier(inputAbove, prices)),
    media: entry.media,
    fees: entry.fees,
    serviceTiers: entry.serviceTiers,
    multipliers,
    lines,
    pointers: [...new Set(expressions.flatMap((each) => each?.pointers ?? []))],
  };
}

export function prepareTier(inputAbove: number, prices: TokenPrices): PricingTier {
  const { input, output } = possiblePrices(prices);
  return { inputAbove, prices, mostExpensiveInput: mostExpensiveOf(input), mostExpensiveOutput: mostExpensiveOf(output) };
}

function mostExpensiveOf(prices: readonly string[]): string {
  return prices.reduce((highest, price) => (isMoreExpensive(price, highest) ? price : highest));
}
