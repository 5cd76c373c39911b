import { dayNumber, periodsOf } from '../../billing/credits/pots.ts';
import { type CallRow, columnAt } from './call-entry-row.ts';

/** What one key has spent on one day in a batch: it is posted as one transaction. */
export type SpendGroup = {
  readonly userName: string;
  readonly keyId: string;
  readonly acceptedAtMs: number;
  readonly day: string;
  readonly transactionId: string;
  amount: bigint;
  /** When the last of its calls ended. */
  endedAtMs: number;
  /** What of it comes out of leases, by the bits of the pots. */
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

/** The transactions of a batch. Rows are named by them before they are inserted, and count once they are. */
export class BatchTransactions {
  readonly #groups = new Map<string, SpendGroup>();
  #last: SpendGroup | undefined;

  /** Writes into the row which transaction it belongs to; one that costs nothing has none. */
  name({ values }: CallRow): void {
    const isFree = BigInt(numberAt(values, at.amount)) === 0n;
    values[at.transactionId] = isFree ? null : (this.#find(values)?.transactionId ?? `usage:${String(values[at.callId])}`);
  }

  /** The row, which has its name, is in the books. */
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

  /** What was spent, by user: everybody locks the users' accounts in one order, so that no two transactions wait for each other. */
  groups(): readonly SpendGroup[] {
    return [...this.#groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
  }

  #find(values: CallRow['values']): SpendGroup | undefined {
    const last = this.#last;
    // Calls that follow each other are often of one key, and comparing is cheaper than looking up.
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
