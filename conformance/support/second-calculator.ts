import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import type { Usage } from '../../src/inference/usage.ts';

/**
 * A second calculator of the cost of token calls, which shares no code with the product's: it reads the JSON of the
 * price list itself, and calculates with integers. An error of the product's loader, of its choice of a tier or a
 * window, or of its arithmetic appears as a difference.
 */
type RawEntry = {
  readonly vendor: string;
  readonly model: string;
  readonly effectiveFrom: string;
  readonly tiers?: readonly { readonly inputAbove: number; readonly prices: Readonly<Record<string, string>> }[];
  readonly serviceTiers?: Readonly<Record<string, string>>;
};

const file = join(import.meta.dirname, '../../src/billing/rating/price-book.json');
const { entries } = JSON.parse(readFileSync(file, 'utf8')) as { readonly entries: readonly RawEntry[] };

const micro = 1_000_000n;
const factorDigits = 6;
const unitsPerNanoUsd = 1_000_000_000n;

/** `"3.75"` in units of a millionth. */
function toMillionths(decimal: string): bigint {
  const match = /^(\d+)(?:\.(\d{1,6}))?$/.exec(decimal);
  if (match === null) throw new Error(`the second calculator cannot parse "${decimal}"`);
  return BigInt(match[1] ?? '0') * micro + BigInt((match[2] ?? '').padEnd(factorDigits, '0'));
}

/** The counts by which a token call is charged, each with its price. */
const counted = [
  ['inputTokens', 'input'],
  ['cacheReadTokens', 'cacheRead'],
  ['cacheWrite5mTokens', 'cacheWrite5m'],
  ['cacheWrite1hTokens', 'cacheWrite1h'],
  ['outputTokens', 'output'],
] as const;

/** Parts of the counts above that some models charge separately. Calls under audit have none. */
const others = new Set(['reasoningTokens']);

/**
 * The cost of a usage at the list price, in nano-USD. Undefined for calls with other meters than tokens, or whose model
 * is not in the list under its own name: this calculator does not support them.
 */
export function secondPriceOf(
  entry: Pick<CallEntry, 'vendor' | 'upstreamModel' | 'acceptedAtMs' | 'serviceTier'>,
  usage: Usage,
): bigint | undefined {
  const day = new Date(entry.acceptedAtMs).toISOString().slice(0, 10);
  const [priced] = entries
    .filter(({ vendor, model, effectiveFrom }) => vendor === entry.vendor && model === entry.upstreamModel && effectiveFrom <= day)
    .toSorted((left, right) => right.effectiveFrom.localeCompare(left.effectiveFrom));
  if (priced?.tiers === undefined) return undefined;
  const isForeign = ([name, count]: readonly [string, number | undefined]): boolean =>
    (count ?? 0) > 0 && !counted.some(([known]) => known === name) && !others.has(name);
  if (Object.entries(usage).some(isForeign)) return undefined;
  const input = (usage.inputTokens ?? 0) + (usage.cacheReadTokens ?? 0) + (usage.cacheWrite5mTokens ?? 0) + (usage.cacheWrite1hTokens ?? 0);
  const tier = priced.tiers
    .toSorted((left, right) => right.inputAbove - left.inputAbove)
    .find(({ inputAbove }) => inputAbove === 0 || input > inputAbove);
  const factor = entry.serviceTier === undefined ? '1' : (priced.serviceTiers?.[entry.serviceTier] ?? '1');
  let sum = 0n;
  for (const [name, price] of counted) {
    const count = usage[name] ?? 0;
    if (count === 0) continue;
    // A vendor without a price for the cache charges its tokens as input.
    const perMillion = tier?.prices[price] ?? tier?.prices['input'];
    if (perMillion === undefined) return undefined;
    sum += BigInt(count) * toMillionths(perMillion) * toMillionths(factor);
  }
  // A count by millionths of a USD per million by millionths: units of 10^-18 USD. Rounded once, half up.
  return (sum + unitsPerNanoUsd / 2n) / unitsPerNanoUsd;
}
