import type { Receipt } from '../../../src/billing/receipts/receipt.ts';

type Row = Receipt['rows'][number];
type Line = Row['lines'][number];

/** An exact number. The denominator is above zero. */
type Fraction = { readonly top: bigint; readonly bottom: bigint };

export type Difference = { readonly place: string; readonly says: string; readonly computed: string };

const nanosPerUsd = 1_000_000_000n;

function parseDecimal(text: string): Fraction {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  return { top: BigInt(`${sign}${whole}${fraction}`), bottom: 10n ** BigInt(fraction.length) };
}

/** A decimal, or a fraction such as `1/30000`. */
function parseExact(text: string): Fraction {
  const [top = '0', bottom] = text.split('/', 2);
  return bottom === undefined ? parseDecimal(top) : { top: BigInt(top), bottom: BigInt(bottom) };
}

const times = (a: Fraction, b: Fraction): Fraction => ({ top: a.top * b.top, bottom: a.bottom * b.bottom });
const plus = (a: Fraction, b: Fraction): Fraction => ({ top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom });
const isSame = (a: Fraction, b: Fraction): boolean => a.top * b.bottom === b.top * a.bottom;

/** Quantity × unit price ÷ per × each multiplier, without any rounding. */
function lineAmount({ quantity, unit_price_usd: price, per, multipliers, reversed }: Line): Fraction {
  const start = times({ top: BigInt(reversed === true ? -quantity : quantity), bottom: BigInt(per) }, parseDecimal(price));
  return Object.values(multipliers).reduce((product, factor) => times(product, parseDecimal(factor)), start);
}

/** An exact number of dollars in whole nano-USD, rounded half up on its size. */
function roundToNanos({ top, bottom }: Fraction): bigint {
  const size = top < 0n ? -top : top;
  const rounded = (2n * size * nanosPerUsd + bottom) / (2n * bottom);
  return top < 0n ? -rounded : rounded;
}

/** A row: each line, and their sum rounded once. */
function recomputeRow(row: Row, index: number): { readonly nanos: bigint; readonly differences: readonly Difference[] } {
  const differences: Difference[] = [];
  let sum: Fraction = { top: 0n, bottom: 1n };
  for (const [place, line] of row.lines.entries()) {
    const amount = lineAmount(line);
    if (!isSame(amount, parseExact(line.amount_usd)))
      differences.push({ place: `row ${index + 1}, line ${place + 1}`, says: line.amount_usd, computed: `${amount.top}/${amount.bottom}` });
    sum = plus(sum, amount);
  }
  const nanos = roundToNanos(sum);
  if (String(nanos) !== row.amount.nano_usd)
    differences.push({ place: `row ${index + 1}, amount`, says: row.amount.nano_usd, computed: String(nanos) });
  return { nanos, differences };
}

/**
 * Computes a receipt again from its lines, with whole numbers only, by the rules of `weir receipt verify`.
 * @returns every place that says something else than was computed; empty if all agrees
 */
export async function recomputeReceipt(receipt: Receipt): Promise<readonly Difference[]> {
  const rows = receipt.rows.map(recomputeRow);
  const total = rows.reduce((sum, { nanos }) => sum + nanos, 0n);
  const digest = await digestOf(receipt);
  return [
    ...rows.flatMap(({ differences }) => differences),
    ...(String(total) === receipt.total.nano_usd ? [] : [{ place: 'total', says: receipt.total.nano_usd, computed: String(total) }]),
    ...(digest === receipt.digest ? [] : [{ place: 'digest', says: receipt.digest, computed: digest }]),
  ];
}

/** SHA-256 of the receipt without `booked`, `credits` and `digest`, in the canonical form of RFC 8785. */
async function digestOf({ booked: _booked, credits: _credits, digest: _digest, ...signed }: Receipt): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalJson(signed)));
  return `sha256:${[...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** JSON with sorted members. JavaScript writes numbers and texts in the form that RFC 8785 asks for. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}
