import { readTags } from '../../accounts/call-tags.ts';
import type { TranslationNote } from '../../inference/translation-notes.ts';
import type { CallEntry, ChargeLine, DisconnectEvidence, Dispute, FailedAttempt, Settlement } from '../ledger/call-entry.ts';
import { sumLines } from '../rating/recompute-amount.ts';
import { writeCounts } from './count-names.ts';
import { formatExact, formatMoney } from './exact-text.ts';
import { type EstimateReason, type Receipt, receiptForm, type ReceiptMoney, type ReceiptRow } from './receipt.ts';
import { digestOf } from './receipt-digest.ts';

/**
 * Builds the receipt of a call from its ledger rows. The same rows give the same receipt, byte for byte, whatever the
 * present prices are.
 * @param rows the call's own row, then its parts in order; at least one
 * @param booked whether all of them are in the ledger
 */
export function buildReceipt(rows: readonly [CallEntry, ...CallEntry[]], booked: boolean): Receipt {
  const [call] = rows;
  const written = rows.map(buildRow);
  const body: Omit<Receipt, 'digest' | 'booked'> = {
    object: 'receipt',
    ...receiptForm,
    request_id: call.callId,
    accepted_at: new Date(call.acceptedAtMs).toISOString(),
    user: call.userName,
    key: { id: call.keyId, name: call.keyName },
    ...(call.tags === undefined ? {} : { tags: readTags(call.tags) }),
    ...(call.team === undefined ? {} : { team: { id: call.team.id, name: call.team.name } }),
    dialect: call.dialect,
    requested_model: call.requestedModel,
    stream: call.stream,
    end: endOf(written),
    currency: 'USD',
    rounding: 'half-up to 1 nano-USD, once per row',
    rows: written,
    estimated: written.some(({ estimated }) => estimated),
    total: formatMoney(rows.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n)),
    held: highestHold(written),
  };
  const { object, schema, version, request_id, ...rest } = body;
  return { object, schema, version, request_id, booked, ...rest, digest: digestOf(body) };
}

/** The end of the call: that of its last model request. Rows of tools and settlements have no end of their own. */
export function endOf(rows: readonly ReceiptRow[]): Receipt['end'] {
  return (rows.findLast(({ kind }) => kind === 'call' || kind === 'part') ?? rows[0])?.end ?? 'failed';
}

/** The hold of the call with its parts: a later row includes the holds of earlier ones. */
export function highestHold(rows: readonly ReceiptRow[]): ReceiptMoney | null {
  const held = rows.flatMap((row) => (row.held === null ? [] : [BigInt(row.held.nano_usd)]));
  return held.length === 0 ? null : formatMoney(held.reduce((most, other) => (other > most ? other : most)));
}

function buildRow(entry: CallEntry): ReceiptRow {
  const { charge, translation } = entry;
  return {
    id: entry.callId,
    kind: kindOf(entry),
    upstream: entry.upstream,
    vendor: entry.vendor,
    upstream_model: entry.upstreamModel,
    served_model: entry.servedModel ?? null,
    upstream_dialect: translation?.upstreamDialect ?? null,
    end: entry.end,
    stop_reason: entry.stopReason ?? null,
    error_code: entry.errorCode ?? null,
    upstream_status: entry.upstreamStatus ?? null,
    upstream_request_id: entry.upstreamRequestId ?? null,
    service_tier: entry.serviceTier ?? null,
    disconnect: entry.disconnect === undefined ? null : writeDisconnect(entry.disconnect),
    attempts: (entry.failedAttempts ?? []).map(writeAttempt),
    usage: writeCounts(entry.usage),
    tool_usage: entry.toolUsage === undefined ? null : writeCounts(entry.toolUsage),
    usage_reported: entry.rawUsage ?? null,
    estimated: entry.estimated,
    estimate_reason: estimateReason(entry.estimated, entry.end, entry.rawUsage ?? null, entry.disputed !== undefined),
    ...(entry.disputed === undefined ? {} : { disputed: writeDispute(entry.disputed) }),
    ...(entry.settlement === undefined ? {} : { settlement: writeSettlement(entry.settlement) }),
    input_characters: entry.inputCharacters,
    pricing_parameters: { ...entry.pricingParameters },
    reply_parameters: { ...entry.replyParameters },
    price: { version: entry.priceVersion, id: charge.priceId ?? null },
    lines: charge.lines.map(writeLine),
    sum_usd: formatExact(sumLines(charge.lines)),
    amount: formatMoney(charge.amountNanoUsd),
    held: entry.heldNanoUsd === undefined ? null : formatMoney(BigInt(entry.heldNanoUsd)),
    timings: { first_byte_ms: toWholeMsOrNull(entry.firstByteMs), duration_ms: toWholeMs(entry.durationMs) },
    notes: { request: (translation?.notes ?? []).map(writeNote), reply: (entry.replyNotes ?? []).map(writeNote) },
  };
}

/** Why counts are an estimate, as far as the row tells; null if they are not. */
export function estimateReason(estimated: boolean, end: CallEntry['end'], reported: unknown, isDisputed: boolean): EstimateReason | null {
  if (!estimated) return null;
  if (isDisputed) return 'impossible_usage_report';
  if (end === 'lost') return 'process_died';
  if (end !== 'finished') return 'reply_broken_off';
  return reported === null ? 'no_usage_report' : 'incomplete_usage_report';
}

/** A line in the form of receipts and quotes. */
export function writeLine(line: ChargeLine): ReceiptRow['lines'][number] {
  return {
    meter: line.meter,
    quantity: line.quantity,
    unit_price_usd: line.unitPrice,
    per: line.per,
    multipliers: { ...line.multipliers },
    formula: line.formula ?? null,
    amount_usd: formatExact(sumLines([line])),
    ...(line.reversed === true ? { reversed: true } : {}),
  };
}

function kindOf({ toolUsage, settlement, parentCallId }: CallEntry): ReceiptRow['kind'] {
  if (toolUsage !== undefined) return 'tools';
  if (settlement !== undefined) return 'settlement';
  return parentCallId === undefined ? 'call' : 'part';
}

function writeDispute({ figures, reported }: Dispute): NonNullable<ReceiptRow['disputed']> {
  return {
    figures: figures.map((figure) => ({ ...figure, reported: figure.reported ?? null, most: figure.most ?? null })),
    reported: writeCounts(reported),
  };
}

/** Without the operator's name, which does not concern the payer. */
function writeSettlement({ of, decision, before, after, atMs, note }: Settlement): NonNullable<ReceiptRow['settlement']> {
  return { of, decision, before: writeCounts(before), after: writeCounts(after), at: new Date(atMs).toISOString(), note: note ?? null };
}

/** Without the credential, which concerns only the operator. */
function writeAttempt(attempt: FailedAttempt): ReceiptRow['attempts'][number] {
  return {
    upstream: attempt.upstream,
    upstream_model: attempt.upstreamModel,
    upstream_status: attempt.upstreamStatus ?? null,
    upstream_request_id: attempt.upstreamRequestId ?? null,
    error_code: attempt.errorCode,
    duration_ms: toWholeMs(attempt.durationMs),
  };
}

function writeDisconnect(evidence: DisconnectEvidence): NonNullable<ReceiptRow['disconnect']> {
  return {
    policy: evidence.policy,
    left_after_ms: toWholeMs(evidence.leftAfterMs),
    delivered_characters: evidence.deliveredCharacters,
    upstream_ended_after_ms: toWholeMs(evidence.upstreamEndedAfterMs),
    usage_reported: evidence.usageReported,
  };
}

function writeNote({ kind, field, reason }: TranslationNote): ReceiptRow['notes']['request'][number] {
  return { kind, field, reason };
}

const toWholeMs = (ms: number): number => Math.max(0, Math.round(ms));
const toWholeMsOrNull = (ms: number | undefined): number | null => (ms === undefined ? null : toWholeMs(ms));
