import { writeCounts } from '../../../billing/receipts/count-names.ts';
import type { CallEntry, DisputedFigure } from '../../../billing/ledger/call-entry.ts';
import type { DisputedRow } from '../../../billing/ledger/ledger-store.ts';
import { usdDecimal } from '../../../billing/statistics/usd-decimal.ts';
import { alignColumns, findUserName, readStore } from '../with-accounts.ts';
import type { Environment } from '../../environment.ts';
import { printTexts } from './print-texts.ts';
import { inert } from './terminal-text.ts';

export type DisputedOptions = { readonly disputed?: true; readonly all?: true; readonly user?: string; readonly json?: true };

const listedMax = 1000;

/** Prints the calls whose upstream reported impossible figures. */
export async function listDisputed(environment: Environment, { all, user, json }: DisputedOptions): Promise<void> {
  const rows = await readStore(environment, async (store) =>
    store.listDisputed({
      limit: listedMax,
      settled: all === true,
      ...(user === undefined ? {} : { userName: await findUserName(store, user) }),
    }),
  );
  const text = json === true ? `${JSON.stringify(rows.map(describeRow), undefined, 2)}\n` : writeTable(rows);
  await printTexts(process.stdout, [text]);
}

function describeRow({ entry, settlement }: DisputedRow): object {
  return {
    id: entry.callId,
    accepted_at: new Date(entry.acceptedAtMs).toISOString(),
    user: entry.userName,
    key: entry.keyName,
    model: entry.requestedModel,
    upstream: entry.upstream,
    upstream_request_id: entry.upstreamRequestId ?? null,
    figures: entry.disputed?.figures ?? [],
    reported: writeCounts(entry.disputed?.reported ?? {}),
    usage_reported: entry.rawUsage ?? null,
    charged: writeCounts(entry.usage),
    charged_usd: usdDecimal(entry.charge.amountNanoUsd),
    settlement: settlement?.settlement === undefined ? null : describeSettlement(settlement),
  };
}

function describeSettlement({ settlement, charge }: CallEntry): object {
  return {
    decision: settlement?.decision,
    by: settlement?.by,
    at: new Date(settlement?.atMs ?? 0).toISOString(),
    note: settlement?.note ?? null,
    difference_usd: usdDecimal(charge.amountNanoUsd),
  };
}

function writeTable(rows: readonly DisputedRow[]): string {
  if (rows.length === 0) return 'no disputed calls\n';
  const lines = rows.map(({ entry, settlement }) => [
    entry.callId,
    new Date(entry.acceptedAtMs).toISOString(),
    inert(entry.userName),
    inert(entry.requestedModel),
    inert(entry.upstream),
    usdDecimal(entry.charge.amountNanoUsd),
    (entry.disputed?.figures ?? []).map(describeFigure).join(', '),
    settlement?.settlement === undefined ? 'open' : `${settlement.settlement.decision} by ${inert(settlement.settlement.by)}`,
  ]);
  return `${alignColumns([['ROW', 'ACCEPTED', 'USER', 'MODEL', 'UPSTREAM', 'CHARGED USD', 'REPORTED', 'STATE'], ...lines]).join('\n')}\n`;
}

function describeFigure({ count, reason, reported, most }: DisputedFigure): string {
  if (reason === 'malformed') return `${count}: not a count`;
  return `${count}: ${reported ?? 'unknown'}, at most ${most ?? 'unknown'}`;
}
