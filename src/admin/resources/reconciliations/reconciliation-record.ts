import { type Static, Type } from 'typebox';

import type { ReconciliationSummary, StoredReconciliation } from '../../../billing/reconciliation/reconciliation-store.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import type { LongOperation } from '../../../control/operations/long-operation.ts';
import { instant, moneySchema, nullable, optionalInstant, record } from '../../contract/values.ts';

const optionalMoney = nullable(moneySchema);
export const summaryMembers = {
  id: Type.String({ examples: ['rec_01k9x2m4vq3f7c8d5e6h1j0abc'] }),
  created_at: Type.String(),
  actor: Type.String({ description: 'The person or program that began it.' }),
  vendor: Type.String(),
  upstream: nullable(Type.String()),
  kind: Type.Enum(['usage', 'costs']),
  time_zone: Type.String({ description: "The vendor's, in which its days begin." }),
  from: Type.String(),
  to: Type.String(),
  tolerance: Type.String({ description: 'In percent of the greater count.' }),
  prices: Type.String({ description: 'The book for list prices, of costs.' }),
  file: record({ name: Type.String(), bytes: Type.Integer(), sha256: Type.String() }),
  operation_id: nullable(Type.String()),
  state: Type.Enum(['comparing', 'agrees', 'differs', 'failed', 'cancelled']),
  problem: nullable(record({ code: Type.String(), detail: Type.String() })),
  compared: nullable(Type.Integer({ description: 'Models times days, of costs times items. Null until it is compared.' })),
  differing: nullable(Type.Integer()),
  over_tolerance: nullable(Type.Integer()),
  ours: { ...optionalMoney, description: 'Of costs: the usage of the ledger at list price.' },
  theirs: optionalMoney,
  charged: { ...optionalMoney, description: 'Of costs: what users were charged.' },
  ended_at: nullable(Type.String()),
  note: nullable(Type.String()),
  accepted: nullable(record({ at: Type.String(), by: Type.String() })),
};
export const summarySchema = record(summaryMembers, "A comparison of the ledger with a vendor's export.");

/** An operation that was never begun, or whose row is gone, has failed after this time. */
const startMsMax = 60_000;

/** @param operation undefined if its row is gone */
export function encodeReconciliation(
  stored: StoredReconciliation,
  operation: LongOperation | undefined,
  nowMs: number,
): Static<typeof summarySchema> {
  const { summary, file, accepted } = stored;
  const { state, problem } = stateOf(stored, operation, nowMs);
  const money = (nanoUsd: string | undefined) => (nanoUsd === undefined ? null : formatMoney(BigInt(nanoUsd)));
  return {
    id: stored.id,
    created_at: instant(stored.createdAtMs),
    actor: stored.actor,
    vendor: stored.vendor,
    upstream: stored.upstream ?? null,
    kind: stored.kind,
    time_zone: stored.timeZone,
    from: instant(stored.startMs),
    to: instant(stored.endMs),
    tolerance: stored.tolerance,
    prices: stored.prices,
    file: { ...file },
    operation_id: stored.operationId ?? null,
    state,
    problem,
    compared: summary?.compared ?? null,
    differing: summary?.differing ?? null,
    over_tolerance: summary?.over ?? null,
    ours: money(summary?.listNanoUsd),
    theirs: money(summary?.theirNanoUsd),
    charged: money(summary?.chargedNanoUsd),
    ended_at: optionalInstant(stored.endedAtMs),
    note: stored.note ?? null,
    accepted: accepted === undefined ? null : { at: instant(accepted.atMs), by: accepted.by },
  };
}

type State = Pick<Static<typeof summarySchema>, 'state' | 'problem'>;

function stateOf({ summary, createdAtMs }: StoredReconciliation, operation: LongOperation | undefined, nowMs: number): State {
  if (summary !== undefined) return { state: agrees(summary) ? 'agrees' : 'differs', problem: null };
  if (operation === undefined && nowMs - createdAtMs < startMsMax) return { state: 'comparing', problem: null };
  if (operation === undefined)
    return {
      state: 'failed',
      problem: { code: 'interrupted', detail: 'The comparison did not end; begin another one with the same export.' },
    };
  if (operation.state === 'cancelled') return { state: 'cancelled', problem: null };
  if (operation.state === 'failed') return { state: 'failed', problem: operation.problem ?? null };
  return { state: 'comparing', problem: null };
}

/** Whether no difference exceeds the tolerance. */
const agrees = ({ over }: ReconciliationSummary): boolean => over === 0;
