import { dayNumber, periodsOf } from '../../billing/credits/pots.ts';
import { type CallRow, columnAt } from './call-entry-row.ts';

/** The calls of one key on one day in a batch, which are posted as one transaction. */
export type SpendGroup = {
  readonly userName: string;
  readonly keyId: string;
  readonly acceptedAtMs: number;
  readonly day: string;
  readonly transactionId: string;
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
  name({ values }: CallRow): void {
    const isFree = BigInt(numberAt(values, at.amount)) === 0n;
    values[at.transactionId] = isFree ? null : (this.#find(values)?.transactionId ?? `usage:${String(values[at.callId])}`);
  }

  /** Adds a row with an assigned transaction after its insert. */
  add({ values }: CallRow): void {
    const transactionId = values[at.transactionId];
    if (typeof transactionId !== 'string') return;
    const group = this.#find(values) ?? this.#begin(values, transactionId);
    this.#last = group;
    const amount = BigInt(numberAt(values, at.amount));
    group.amount += amount;
    const endedAtMs = Number(values[at.acceptedAtMs]) + Number(values[at.useTimeMs]);
    if (endedAtMs > group.endedAtMs) group.endedAtMs = endedAtMs;
    const heldPots = Number(values[at.heldPots]);
    if (heldPots !== 0) group.held.set(heldPots, (group.held.get(heldPots) ?? 0n) + amount);
  }

  /**
   * The sums in order of the user: everybody locks users' accounts in this order, so that no two transactions deadlock.
   */
  groups(): readonly SpendGroup[] {
    return [...this.#groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
  }

  #find(values: CallRow['values']): SpendGroup | undefined {
    const last = this.#last;
    // Consecutive calls often have the same key, and comparing is cheaper than a look-up.
    return last !== undefined && isOf(last, values) ? last : this.#groups.get(keyOf(values));
  }

  #begin(values: CallRow['values'], transactionId: string): SpendGroup {
    const acceptedAtMs = Number(values[at.acceptedAtMs]);
    const group = {
      userName: String(values[at.userName]),
      keyId: String(values[at.keyId]),
      acceptedAtMs,
      day: periodsOf(acceptedAtMs).day,
      transactionId,
      amount: 0n,
      endedAtMs: 0,
      held: new Map<number, bigint>(),
    };
    this.#groups.set(keyOf(values), group);
    return group;
  }
}

function isOf({ keyId, userName, acceptedAtMs }: SpendGroup, values: CallRow['values']): boolean {
  if (keyId !== values[at.keyId] || userName !== values[at.userName]) return false;
  return dayNumber(acceptedAtMs) === dayNumber(Number(values[at.acceptedAtMs]));
}

function keyOf(values: CallRow['values']): string {
  return `${String(values[at.userName])}\0${String(values[at.keyId])}\0${dayNumber(Number(values[at.acceptedAtMs]))}`;
}

function numberAt(values: CallRow['values'], column: number): number | bigint {
  const value = values[column];
  return typeof value === 'number' || typeof value === 'bigint' ? value : 0;
}
