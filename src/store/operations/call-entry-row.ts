import type { CallEntry } from '../../billing/ledger/call-entry.ts';
import { billingOf, isUnpriced, statisticsCounts } from '../../billing/ledger/call-entry.ts';
import { decodeEntry } from '../../billing/ledger/entry-json.ts';
import type { GroupPayer } from '../../billing/credits/pots.ts';
import type { EntrySummary } from '../../billing/ledger/ledger-form.ts';
import { settlementRowId } from '../../billing/ledger/row-ids.ts';
import { toStorableText } from '../storable-text.ts';
import { StoreError } from '../store-error.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';
import { type CallShape, type CallShapes, readEntryText } from './call-shapes.ts';

/** The columns of `calls` in the order of the values of a row. */
export const callColumns = [
  'call_id',
  'accepted_at_ms',
  'user_name',
  'key_name',
  'requested_model',
  'amount_nano_usd',
  'billed',
  'prompt_tokens',
  'completion_tokens',
  'cache_tokens',
  'cache_creation_tokens',
  'use_time_ms',
  'reply_id',
  'entry',
  'key_id',
  'held_pots',
  'transaction_id',
  'disputed',
  'unpriced',
  'shape',
] as const;

/** The values of an entry's row, in the order of `callColumns`. */
export type CallRow = {
  readonly values: SqlParameter[];
  /** The version of the price book that priced it. */
  readonly priceVersion: string;
  /** The team of its user, and who pays if it is not the user. */
  readonly teamId: string | undefined;
  readonly payer: GroupPayer | undefined;
  /** What its text shares with other entries. Undefined if the row has the whole text. */
  readonly shape: CallShape | undefined;
};

/** The index of a column in the values of a row. */
export const columnAt = (name: (typeof callColumns)[number]): number => callColumns.indexOf(name);

const settlementSuffix = settlementRowId('');

/** Amounts have 64 bits: up to 9.2 billion USD. */
const amountNanoUsdMax = 2n ** 63n - 1n;

/**
 * The values of an entry's row, from its summary, or from the entry if there is no summary. Throws StoreError
 * `entry-out-of-range` with the member that cannot be stored exactly.
 * @param summary as encodeForLedger writes it, possibly empty
 * @param text the entry as encodeEntry writes it, in UTF-8
 * @param shapes finds what the text shares with others; without it the row has the whole text
 */
export function readCallRow(summary: string, text: Buffer, shapes?: Pick<CallShapes, 'split'>): CallRow {
  if (summary === '') return encodeCallRow(text);
  const [
    callId,
    acceptedAtMs,
    userName,
    keyName,
    requestedModel,
    amount,
    billed,
    prompt,
    completion,
    cache,
    cacheCreation,
    useTime,
    replyId,
    keyId,
    heldPots = 0,
    priceVersion,
    disputed = 0,
    unpriced = 0,
    teamId,
    payer,
  ] = JSON.parse(summary) as EntrySummary;
  if (keyId === undefined || priceVersion === undefined) return encodeCallRow(text);
  const id = toStorableText(callId);
  // A list of disputed rows has two entries in a row, and reads their whole texts.
  const isWhole = shapes === undefined || disputed === 1 || id.endsWith(settlementSuffix);
  const shaped = isWhole ? undefined : shapes.split(`${keyId}\n${requestedModel}`, id, text);
  const values = [
    id,
    acceptedAtMs,
    toStorableText(userName),
    toStorableText(keyName),
    toStorableText(requestedModel),
    amount,
    billed,
    prompt,
    completion,
    cache,
    cacheCreation,
    useTime,
    replyId === null ? null : toStorableText(replyId),
    shaped?.values ?? text,
    toStorableText(keyId),
    heldPots,
    null,
    disputed,
    unpriced,
    shaped?.shape.id ?? null,
  ];
  return { values, priceVersion: toStorableText(priceVersion), teamId: teamId ?? undefined, payer, shape: shaped?.shape };
}

function encodeCallRow(text: Buffer): CallRow {
  const entry = decodeEntry(JSON.parse(text.toString()));
  const { amountNanoUsd } = entry.charge;
  if (amountNanoUsd > amountNanoUsdMax || amountNanoUsd < -amountNanoUsdMax) {
    throw outOfRange(entry.callId, 'charge.amountNanoUsd', 'beyond 64 bits');
  }
  const counts = statisticsCounts(entry.usage);
  const whole = (name: string, value: number): number => {
    // Sums of counts may exceed 2^53; they are still integers and far below 2^63.
    if (Number.isInteger(value) && Math.abs(value) < 2 ** 62) return value;
    throw outOfRange(entry.callId, name, 'not an integer below 2^62');
  };
  // JSON encodes NaN and infinity as null, and a null must not count as zero.
  if (Object.values(entry.usage).some((count) => typeof count !== 'number')) throw outOfRange(entry.callId, 'usage', 'not a number');
  if (typeof entry.durationMs !== 'number') throw outOfRange(entry.callId, 'durationMs', 'not a number');
  const values = [
    toStorableText(entry.callId),
    whole('acceptedAtMs', entry.acceptedAtMs),
    toStorableText(entry.userName),
    toStorableText(entry.keyName),
    toStorableText(entry.requestedModel),
    amountNanoUsd,
    billingOf(entry),
    whole('usage (promptTokens)', counts.promptTokens),
    whole('usage (completionTokens)', counts.completionTokens),
    whole('usage (cacheTokens)', counts.cacheTokens),
    whole('usage (cacheCreationTokens)', counts.cacheCreationTokens),
    whole('durationMs', Math.round(entry.durationMs)),
    entry.replyId === undefined ? null : toStorableText(entry.replyId),
    text,
    toStorableText(entry.keyId),
    entry.heldPots ?? 0,
    null,
    entry.disputed === undefined ? 0 : 1,
    isUnpriced(entry) ? 1 : 0,
    null,
  ];
  const { team, payer } = entry;
  return { values, priceVersion: toStorableText(entry.priceVersion), teamId: team?.id, payer, shape: undefined };
}

/** Decodes an entry from its row of selectCalls, exactly as it was appended. */
export function decodeCallEntry(row: SqlRow): CallEntry {
  return decodeEntry(JSON.parse(readEntryText(row)));
}

function outOfRange(callId: string, member: string, reason: string): StoreError {
  return new StoreError('entry-out-of-range', `Entry ${callId} cannot be booked: ${member} is ${reason}.`, { callIds: [callId] });
}
