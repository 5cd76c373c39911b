/** The answer of a staging, as `billing/staging` writes it. Amounts are whole nano-USD. */
export type StagedGroup = {
  readonly name: string;
  readonly calls: number;
  readonly booked_nano_usd: string;
  readonly in_force_nano_usd: string;
  readonly staged_nano_usd: string;
  readonly effect_nano_usd: string;
};
export type Staged = {
  readonly groups: readonly StagedGroup[];
  readonly groups_left_out: number;
  readonly total: StagedGroup;
  readonly doubtful: readonly { readonly model: string; readonly reason: string; readonly rows: number }[];
  readonly book: string;
};

/** The result of an operation, if it is that of a staging. */
export function readStaged(result: unknown): Staged | undefined {
  return typeof result === 'object' && result !== null && 'groups' in result && 'total' in result ? (result as Staged) : undefined;
}

/** Exact USD without grouping, for files: `-0.000000001`. */
export function plainUsd(nanoUsd: string): string {
  const nanos = BigInt(nanoUsd);
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${size / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}`;
}
