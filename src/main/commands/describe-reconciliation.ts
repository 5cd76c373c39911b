import {
  type ComparedUsage,
  likelyCauses,
  percentOf,
  type Reconciliation,
  type ReconciledCell,
} from '../../billing/reconciliation/reconciliation.ts';
import type { ListedCall } from '../../billing/reconciliation/cell-calls.ts';
import { isOver } from '../../billing/reconciliation/tolerance.ts';
import type { VendorUsage } from '../../billing/reconciliation/vendor-usage.ts';
import { inert } from './usage/terminal-text.ts';
import { alignColumns } from './with-accounts.ts';

/** The export, and the number of billed calls that it cannot contain, by kind. */
export type Compared = Pick<VendorUsage, 'timeZone' | 'startMs' | 'endMs' | 'unread'> & {
  readonly leftOut: ReturnType<Reconciliation['leftOut']>;
};

/** A table of the differences for people, and the number of cells that agree. */
export function describeCells(cells: readonly ReconciledCell[], { timeZone, unread, leftOut }: Compared, tolerance: number): string {
  const rows = cells.flatMap((cell) =>
    cell.usage
      .filter(({ difference }) => difference !== 0)
      .map((compared, index) => [
        cell.day,
        inert(cell.model),
        compared.usageClass,
        String(compared.ours),
        String(compared.theirs),
        signed(compared.difference),
        percentText(compared),
        isOver(compared, tolerance) ? '' : 'tolerated',
        index === 0 ? likelyCauses(cell).join('; ') : '',
      ]),
  );
  const differing = cells.filter(({ usage }) => usage.some(({ difference }) => difference !== 0)).length;
  return [
    ...(rows.length === 0
      ? []
      : alignColumns([['DAY', 'MODEL', 'WHAT', 'OURS', 'THEIRS', 'DIFFERENCE', '%', '', 'LIKELY CAUSES'], ...rows])),
    `${cells.length - differing} of ${cells.length} models and days agree (days of ${timeZone})`,
    ...(unread.length === 0 ? [] : ['Not compared, because Weir does not read these:']),
    ...unread.map((name) => `  ${inert(name)}`),
    ...Object.entries(leftOut).map(([kind, calls]) => `Not compared: ${calls} calls of ${kind}, which such an export cannot contain`),
  ].join('\n');
}

/** The whole comparison as JSON. */
export function writeCells(
  cells: readonly ReconciledCell[],
  { timeZone, startMs, endMs, unread, leftOut }: Compared,
  tolerance: number,
): string {
  const report = {
    time_zone: timeZone,
    from: new Date(startMs).toISOString(),
    to: new Date(endMs).toISOString(),
    cells: cells.map((cell) => ({
      model: cell.model,
      day: cell.day,
      usage: cell.usage.map((compared) => ({
        class: compared.usageClass,
        ours: compared.ours,
        theirs: compared.theirs,
        difference: compared.difference,
        over_tolerance: isOver(compared, tolerance),
      })),
      signs: cell.signs,
      likely_causes: likelyCauses(cell),
    })),
    unread,
    left_out: leftOut,
  };
  return JSON.stringify(report, undefined, 2);
}

/** The calls of a cell, as a table for people. */
export function describeCalls({ model, day, usage }: ReconciledCell, calls: readonly ListedCall[]): string {
  const classes = usage.map(({ usageClass }) => usageClass);
  return [
    `${inert(model)} on ${day}: ${calls.length} calls`,
    ...alignColumns([
      ['CALL', 'ACCEPTED', 'USER', ...classes.map((name) => name.toUpperCase()), 'UPSTREAM REQUEST', 'SIGNS'],
      ...calls.map(({ callId, acceptedAtMs, userName, upstreamRequestId, counts, signs, explains }) => [
        callId,
        new Date(acceptedAtMs).toISOString(),
        inert(userName),
        ...classes.map((name) => String(counts[name] ?? 0)),
        inert(upstreamRequestId ?? '-'),
        [...(explains ? ['IS THE DIFFERENCE'] : []), ...signs].join(', '),
      ]),
    ]),
  ].join('\n');
}

/** The calls of a cell, as JSON. */
export function writeCalls({ model, day, usage }: ReconciledCell, calls: readonly ListedCall[]): string {
  const written = calls.map(
    ({ callId, acceptedAtMs, userName, upstream, upstreamRequestId, counts, end, signs, explains, failedAttempts }) => ({
      request_id: callId,
      accepted_at: new Date(acceptedAtMs).toISOString(),
      user: userName,
      upstream,
      upstream_request_id: upstreamRequestId ?? null,
      usage: Object.fromEntries(usage.map(({ usageClass }) => [usageClass, counts[usageClass] ?? 0])),
      end,
      signs,
      explains_difference: explains,
      failed_attempts: failedAttempts,
    }),
  );
  return JSON.stringify({ model, day, calls: written }, undefined, 2);
}

const signed = (value: number): string => (value > 0 ? `+${value}` : String(value));

/** Rounded to hundredths of a percent. A difference that is not 0 is never shown as 0. */
function percentText(compared: ComparedUsage): string {
  const percent = percentOf(compared);
  const rounded = Math.round(percent * 100) / 100;
  return rounded === 0 ? (percent > 0 ? '<+0.01' : '>-0.01') : signed(rounded);
}
