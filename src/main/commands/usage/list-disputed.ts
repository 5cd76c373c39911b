import { listDisputes } from '../../../admin/resources/disputes/dispute-operations.ts';
import type { Environment } from '../../environment.ts';
import { requireUser } from '../remote/require-user.ts';
import { type RemoteOption, withService } from '../remote/with-service.ts';
import { alignColumns } from '../with-accounts.ts';
import { printTexts } from './print-texts.ts';
import { inert } from './terminal-text.ts';

export type DisputedOptions = RemoteOption & {
  readonly disputed?: true;
  readonly all?: true;
  readonly user?: string;
  readonly json?: true;
};
type Dispute = NonNullable<typeof listDisputes.types>['reply']['items'][number];

const listedMax = 1000;

/** Prints the calls whose upstream reported impossible figures. */
export async function listDisputed(environment: Environment, { all, user, json, remote }: DisputedOptions): Promise<void> {
  const place = { reads: true, ...(remote !== undefined && { remote }) };
  const rows = await withService(environment, place, async (service) => {
    if (user !== undefined) await requireUser(service, user);
    const query = { limit: listedMax, settled: all === true, ...(user !== undefined && { user }) };
    return (await service.call(listDisputes, { query })).body.items;
  });
  await printTexts(process.stdout, [json === true ? `${JSON.stringify(rows.map(describeRow), undefined, 2)}\n` : writeTable(rows)]);
}

/** The row as this command has always printed it: amounts are decimal numbers in USD. */
function describeRow({ charged_amount, settlement, ...row }: Dispute): object {
  const decided = settlement === null ? null : { ...settlement, difference: undefined, difference_usd: settlement.difference.usd };
  return { ...row, charged_usd: charged_amount.usd, settlement: decided };
}

function writeTable(rows: readonly Dispute[]): string {
  if (rows.length === 0) return 'no disputed calls\n';
  const lines = rows.map((row) => [
    row.id,
    row.accepted_at,
    inert(row.user),
    inert(row.model),
    inert(row.upstream),
    row.charged_amount.usd,
    row.figures.map(describeFigure).join(', '),
    row.settlement === null ? 'open' : `${row.settlement.decision} by ${inert(row.settlement.by)}`,
  ]);
  return `${alignColumns([['ROW', 'ACCEPTED', 'USER', 'MODEL', 'UPSTREAM', 'CHARGED USD', 'REPORTED', 'STATE'], ...lines]).join('\n')}\n`;
}

function describeFigure({ count, reason, reported, most }: Dispute['figures'][number]): string {
  if (reason === 'malformed') return `${count}: not a count`;
  return `${count}: ${reported ?? 'unknown'}, at most ${most ?? 'unknown'}`;
}
