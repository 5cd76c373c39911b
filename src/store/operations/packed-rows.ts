import type { StatisticsRow } from '../../billing/statistics/statistics-store.ts';

/** Rows of statistics in a few large pieces: cloning an object per row from thread to thread takes longer than adding the rows up. */
export type PackedRows = {
  /** The names, each once. */
  readonly names: readonly string[];
  /** Per row, in the order of `numberColumns`. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** Amounts in nano-USD; an array where one exceeds 64 bits, which many large ones together may. */
  readonly amounts: BigInt64Array<ArrayBuffer> | readonly bigint[];
};

/** Bucket, three places in `names`, and six sums. */
const numbersPerRow = 10;

export function packRows(rows: readonly StatisticsRow[]): PackedRows {
  const numbers = new Float64Array(rows.length * numbersPerRow);
  const places = new Map<string, number>();
  const place = (name: string): number => {
    const known = places.get(name);
    if (known !== undefined) return known;
    places.set(name, places.size);
    return places.size - 1;
  };
  let at = 0;
  for (const row of rows) {
    numbers[at++] = row.bucketStartSeconds;
    numbers[at++] = place(row.userName);
    numbers[at++] = place(row.tokenName);
    numbers[at++] = place(row.modelName);
    numbers[at++] = row.promptTokens;
    numbers[at++] = row.completionTokens;
    numbers[at++] = row.cacheTokens;
    numbers[at++] = row.cacheCreationTokens;
    numbers[at++] = row.useTimeMs;
    numbers[at++] = row.callCount;
  }
  return { names: [...places.keys()], numbers, amounts: packAmounts(rows) };
}

function packAmounts(rows: readonly StatisticsRow[]): PackedRows['amounts'] {
  if (rows.some(({ amountNanoUsd }) => BigInt.asIntN(64, amountNanoUsd) !== amountNanoUsd)) return rows.map((row) => row.amountNanoUsd);
  return BigInt64Array.from(rows, (row) => row.amountNanoUsd);
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
