import { dayNumber, type GroupPayer, periodsOf } from '../../billing/credits/pots.ts';
import { type CallRow, columnAt } from './call-entry-row.ts';

/** The calls of one key on one day in a batch, with the same team and payer, which are posted as one transaction. */
export type SpendGroup = {
  readonly userName: string;
  readonly keyId: string;
  readonly acceptedAtMs: number;
  readonly day: string;
  readonly transactionId: string;
  /** The team of the user, and who pays if it is not the user. */
  readonly teamId: string | undefined;
  readonly payer: GroupPayer | undefined;
  amount: bigint;
  /** When its last call ended. */
  endedAtMs: number;
  /** The part of the amount that was held by leases, by the bits of the pots. */
  readonly held: Map<number, bigint>;
};

const at = {
  callId: columnAt('call_id'),
  acceptedAtMs: columnAt('accepted_at_ms'),
  userName: columnAt('user_name'),
  amount: columnAt('amount_nano_usd'),
  useTimeMs: columnAt('use_time_ms'),
  keyId: columnAt('key_id'),
  heldPots: columnAt('held_pots'),
  transactionId: columnAt('transaction_id'),
};

/**
 * The transactions of a batch. `assign` gives a row its transaction before the insert; `add` adds an inserted row to
 * its transaction.
 */
export class BatchTransactions {
  readonly #groups = new Map<string, SpendGroup>();
  #last: SpendGroup | undefined;

  /** Writes the id of its transaction into the row; null for a row that costs nothing. */
  name(row: CallRow): void {
    const { values } = row;
    const amount = numberAt(values, at.amount);
    const isFree = amount === 0 || amount === 0n;
    values[at.transactionId] = isFree ? null : (this.#find(row)?.transactionId ?? `usage:${String(values[at.callId])}`);
  }

  /** Adds a row with an assigned transaction after its insert. */
  add(row: CallRow): void {
    const { values } = row;
    const transactionId = values[at.transactionId];
    if (typeof transactionId !== 'string') return;
    const group = this.#find(row) ?? this.#begin(row, transactionId);
    this.#last = group;
    const amount = BigInt(numberAt(values, at.amount));
    group.amount += amount;
    const endedAtMs = Number(values[at.acceptedAtMs]) + Number(values[at.useTimeMs]);
    if (endedAtMs > group.endedAtMs) group.endedAtMs = endedAtMs;
    const heldPots = Number(values[at.heldPots]);
    if (heldPots !== 0) group.held.set(heldPots, (group.held.get(heldPots) ?? 0n) + amount);
  }

  /** The sums in order of the user, the key, and the day. */
  groups(): readonly SpendGroup[] {
    return [...this.#groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
  }

  #find(row: CallRow): SpendGroup | undefined {
    const last = this.#last;
    // Consecutive calls often have the same key, and comparing is cheaper than a look-up.
    return last !== undefined && isOf(last, row) ? last : this.#groups.get(keyOf(row));
  }

  #begin(row: CallRow, transactionId: string): SpendGroup {
    const { values, teamId, payer } = row;
    const acceptedAtMs = Number(values[at.acceptedAtMs]);
    const group = {
      userName: String(values[at.userName]),
      keyId: String(values[at.keyId]),
      acceptedAtMs,
      day: periodsOf(acceptedAtMs).day,
      transactionId,
      teamId,
      payer,
      amount: 0n,
      endedAtMs: 0,
      held: new Map<number, bigint>(),
    };
    this.#groups.set(keyOf(row), group);
    return group;
  }
}

function isOf(group: SpendGroup, { values, teamId, payer }: CallRow): boolean {
  if (group.keyId !== values[at.keyId] || group.userName !== values[at.userName]) return false;
  if (group.teamId !== teamId || group.payer !== payer) return false;
  return dayNumber(group.acceptedAtMs) === dayNumber(Number(values[at.acceptedAtMs]));
}

function keyOf({ values, teamId, payer }: CallRow): string {
  const day = dayNumber(Number(values[at.acceptedAtMs]));
  return `${String(values[at.userName])}\0${String(values[at.keyId])}\0${day}\0${teamId ?? ''}\0${payer ?? ''}`;
}

function numberAt(values: CallRow['values'], column: number): number | bigint {
  const value = values[column];
  return typeof value === 'number' || typeof value === 'bigint' ? value : 0;
}
