import type { Receipt, ReceiptRow } from '../../billing/receipts/receipt.ts';
import { inert } from './usage/terminal-text.ts';
import { alignColumns } from './with-accounts.ts';

/** A receipt for people: the call, its end, each line of each row, and the total. */
export function describeReceipt(receipt: Receipt): readonly string[] {
  const { requested_model: model, dialect, stream, held, total, credits } = receipt;
  return [
    `Receipt of ${receipt.request_id}`,
    ...alignColumns([
      ['  accepted', receipt.accepted_at],
      ['  key', `${receipt.key.name} of ${receipt.user}`],
      ['  asked for', `${model} (${dialect}${stream ? ', stream' : ''})`],
      ['  ended', receipt.end],
    ]),
    ...receipt.rows.flatMap((row) => ['', ...describeRow(row)]),
    '',
    `Total ${total.usd} USD (${total.nano_usd} nano-USD)${credits === undefined ? '' : `, ${credits.total} ${inert(credits.name)}`}${held === null ? '' : `; ${held.usd} USD had been held`}${receipt.estimated ? '; estimated' : ''}`,
    receipt.digest,
  ];
}

function describeFigure({ count, reported, most }: NonNullable<ReceiptRow['disputed']>['figures'][number]): string {
  return reported === null ? `${count} is not a count` : `${count} reported as ${reported}, at most ${most ?? 'unknown'} possible`;
}

function describeRow(row: ReceiptRow): string[] {
  const { first_byte_ms: firstByteMs, duration_ms: durationMs } = row.timings;
  const served = row.served_model === null || row.served_model === row.upstream_model ? '' : `, served as ${row.served_model}`;
  const lines = row.lines.map((line) => [
    `    ${line.meter}`,
    line.reversed === true ? `-${line.quantity}` : String(line.quantity),
    `${line.unit_price_usd} per ${line.per}`,
    Object.entries(line.multipliers)
      .map(([name, factor]) => `x ${factor} ${name}`)
      .join(' '),
    line.amount_usd,
  ]);
  return [
    `${row.id}: ${row.upstream}/${row.upstream_model}${served}, ${row.end} after ${durationMs} ms${firstByteMs === null ? '' : `, first byte after ${firstByteMs} ms`}`,
    ...row.attempts.map(
      (attempt) =>
        `  failed attempt at ${attempt.upstream}/${attempt.upstream_model}: ${attempt.error_code} ${attempt.upstream_status ?? ''} after ${attempt.duration_ms} ms`,
    ),
    ...(row.disconnect === null
      ? []
      : [
          `  the client disconnected after ${row.disconnect.left_after_ms} ms; policy ${row.disconnect.policy}, ${row.disconnect.delivered_characters} characters delivered`,
        ]),
    ...(row.estimate_reason === null ? [] : [`  estimated: ${row.estimate_reason.replaceAll('_', ' ')}`]),
    ...(row.disputed === undefined ? [] : [`  disputed: ${row.disputed.figures.map(describeFigure).join(', ')}`]),
    ...(row.settlement === undefined
      ? []
      : [`  ${row.settlement.decision} on ${row.settlement.at}${row.settlement.note === null ? '' : `: ${inert(row.settlement.note)}`}`]),
    `  priced by ${row.price.id ?? 'nothing: the model has no price'}, version ${row.price.version}`,
    ...alignColumns([['    METER', 'QUANTITY', 'PRICE USD', 'FACTORS', 'AMOUNT USD'], ...lines]),
    `  ${row.sum_usd} USD, rounded ${row.amount.usd} USD`,
    ...[...row.notes.request, ...row.notes.reply].map(({ kind, field, reason }) => `  ${kind} ${field}: ${reason}`),
  ];
}
