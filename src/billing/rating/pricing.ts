import { inOnePiece } from '../../platform/json/in-one-piece.ts';
import { entryId } from './entry-problems.ts';
import { compileExpression, type Expression } from './expressions/compile-expression.ts';
import { isMoreExpensive } from './media-lines.ts';
import type { Fees, MediaPrices, PriceBookEntry, TokenPrices } from './price-book-schema.ts';
import { possiblePrices } from './token-lines.ts';

export type PricingTier = {
  readonly inputAbove: number;
  readonly prices: TokenPrices;
  /** What the dearest kind of token costs, of input and of output. */
  readonly dearestInput: string;
  readonly dearestOutput: string;
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

/** Prices of one model at one time, ready to be applied. */
export type Pricing = {
  readonly priceId: string;
  /** Absent: it applies where no other of its window does. */
  readonly when: Expression | undefined;
  /** By rising bound; none where nothing is billed by tokens. */
  readonly tiers: readonly PricingTier[];
  readonly media: MediaPrices | undefined;
  readonly fees: Fees | undefined;
  readonly serviceTiers: Readonly<Record<string, string>> | undefined;
  readonly multipliers: readonly PricingMultiplier[];
  readonly lines: readonly PricingLine[];
  /** Every JSON pointer that any of its expressions reads. */
  readonly pointers: readonly string[];
};

/** Makes an entry ready to be applied. It has been checked: an expression that is none throws ExpressionError. */
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
  return { inputAbove, prices, dearestInput: dearestOf(input), dearestOutput: dearestOf(output) };
}

function dearestOf(prices: readonly string[]): string {
  return prices.reduce((dearest, price) => (isMoreExpensive(price, dearest) ? price : dearest));
}
