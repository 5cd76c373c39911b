import type { StatisticsRow } from '../../billing/statistics/statistics-store.ts';
import { StoreError } from '../store-error.ts';
import type { SqlParameter, ValueRow } from './sql-values.ts';

/**
 * Rows of statistics in a few large buffers: cloning an object per row between threads takes longer than adding the
 * rows up.
 */
export type PackedRows = {
  /** The distinct names. */
  readonly names: readonly string[];
  /** Per row, in the order of `numberColumns`. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** Amounts in nano-USD; an array if one exceeds 64 bits, which a sum of many large ones can. */
  readonly amounts: BigInt64Array<ArrayBuffer> | readonly bigint[];
};

/** Bucket, three indexes into `names`, and six sums. */
const numbersPerRow = 10;

/**
 * Packs rows as the database returns them.
 * @param rows values of each row: bucket, three names, prompt, completion, cache and cache creation tokens, use time,
 * calls, amount
 */
export function packRows(rows: readonly ValueRow[]): PackedRows {
  const numbers = new Float64Array(rows.length * numbersPerRow);
  const places = new Map<string, number>();
  const place = (name: string): number => places.getOrInsertComputed(name, () => places.size);
  // Rows are sorted by their names, and comparing is cheaper than a look-up.
  const lastNames: SqlParameter[] = [];
  const lastPlaces: number[] = [];
  const amounts: bigint[] = [];
  let at = 0;
  for (const row of rows) {
    numbers[at++] = toNumber(row[0]);
    for (let column = firstName; column < firstSum; column += 1) {
      const name = row[column] ?? '';
      if (lastNames[column] !== name) {
        lastNames[column] = name;
        lastPlaces[column] = place(String(name));
      }
      numbers[at++] = lastPlaces[column] ?? 0;
    }
    for (let column = firstSum; column < amountColumn; column += 1) numbers[at++] = toNumber(row[column]);
    amounts.push(toAmount(row[amountColumn]));
  }
  return { names: [...places.keys()], numbers, amounts: packAmounts(amounts) };
}

const firstName = 1;
const firstSum = 4;
const amountColumn = 10;

/** The nearest double. Any other value is a bug or a damaged database, and must not count as a number. */
function toNumber(value: SqlParameter | undefined): number {
  const number = typeof value === 'number' ? value : typeof value === 'bigint' || typeof value === 'string' ? Number(value) : Number.NaN;
  if (Number.isFinite(number)) return number;
  throw new StoreError('corrupt', 'The statistics have a value that is not a number.');
}

function toAmount(value: SqlParameter | undefined): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value);
  throw new StoreError('corrupt', 'The statistics have an amount that is not an integer.');
}

function packAmounts(amounts: readonly bigint[]): PackedRows['amounts'] {
  const packed = new BigInt64Array(amounts.length);
  for (const [index, amount] of amounts.entries()) {
    packed[index] = amount;
    if (packed[index] !== amount) return amounts;
  }
  return packed;
}

/** Decodes rows for use in the thread that read them. */
export function decodeRows(rows: readonly ValueRow[]): readonly StatisticsRow[] {
  const [userOf, tokenOf, modelOf] = [shareTexts(), shareTexts(), shareTexts()];
  return rows.map((row) => ({
    bucketStartSeconds: toNumber(row[0]),
    userName: userOf(row[firstName]),
    tokenName: tokenOf(row[firstName + 1]),
    modelName: modelOf(row[firstName + 2]),
    promptTokens: toNumber(row[firstSum]),
    completionTokens: toNumber(row[firstSum + 1]),
    cacheTokens: toNumber(row[firstSum + 2]),
    cacheCreationTokens: toNumber(row[firstSum + 3]),
    useTimeMs: toNumber(row[firstSum + 4]),
    callCount: toNumber(row[firstSum + 5]),
    amountNanoUsd: toAmount(row[amountColumn]),
  }));
}

/** Returns one string for all equal texts, so that comparisons of equal texts compare addresses only. */
function shareTexts(): (value: SqlParameter | undefined) => string {
  const texts = new Map<string, string>();
  let last = '';
  return (value) => {
    const text = String(value ?? '');
    // Rows are sorted by their names, and comparing is cheaper than a look-up.
    if (text !== last) last = texts.getOrInsert(text, text);
    return last;
  };
}

export function unpackRows({ names, numbers, amounts }: PackedRows): readonly StatisticsRow[] {
  const number = (at: number): number => numbers[at] ?? Number.NaN;
  const name = (at: number): string => names[number(at)] ?? '';
  return Array.from(amounts, (amountNanoUsd, index) => {
    const at = index * numbersPerRow;
    return {
      bucketStartSeconds: number(at),
      userName: name(at + 1),
      tokenName: name(at + 2),
      modelName: name(at + 3),
      promptTokens: number(at + 4),
      completionTokens: number(at + 5),
      cacheTokens: number(at + 6),
      cacheCreationTokens: number(at + 7),
      useTimeMs: number(at + 8),
      callCount: number(at + 9),
      amountNanoUsd,
    };
  });
}
