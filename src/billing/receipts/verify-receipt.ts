import { JsonProblemError, scanJson } from '../../platform/json/scan-json.ts';
import { compileCheckLater } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { Charge, ChargeLine } from '../ledger/call-entry.ts';
import { chargeDifference } from '../ledger/settle-dispute.ts';
import { creditsOf } from '../rating/format-credits.ts';
import type { PriceBook } from '../rating/rating.ts';
import { recomputeAmount, sumLines } from '../rating/recompute-amount.ts';
import { endOf, estimateReason, highestHold } from './build-receipt.ts';
import { readCounts } from './count-names.ts';
import { formatExact, formatMoney } from './exact-text.ts';
import { type Receipt, type ReceiptMoney, type ReceiptRow, receiptSchema } from './receipt.ts';
import { canonicalJson, digestOf } from './receipt-digest.ts';

/** A problem of a receipt: its place, the value, and the expected one. */
type ReceiptProblem = { readonly path: string; readonly problem: string };

export type Verification = {
  /** Empty if the receipt is correct. */
  readonly problems: readonly ReceiptProblem[];
  /** The number of rows whose lines were recomputed from their usage; for the others no price book was given. */
  readonly rerated: number;
  /** Absent if the value does not match the schema. */
  readonly receipt?: Receipt;
};

const hasForm = compileCheckLater(receiptSchema);
const problemsMax = 50;
const textLimits = { depthMax: 64, tokensMax: 250_000 } as const;

/**
 * Recomputes a receipt and names every difference: the schema, the digest, the exact amount of each line, the rounded
 * amount of each row, the total. With the price book that priced it, the lines are recomputed from the usage too. Pure,
 * and without a database.
 * @param text the receipt as JSON, with any white space
 * @param books price books; each row uses the one of its version
 */
export function verifyReceiptText(text: string, books: readonly PriceBook[] = []): Verification {
  try {
    scanJson(Buffer.from(text), textLimits);
  } catch (error) {
    if (error instanceof JsonProblemError) return { problems: [{ path: '', problem: error.message }], rerated: 0 };
    throw error;
  }
  const verified = verifyReceipt(JSON.parse(text), books);
  return { ...verified, problems: [...nonCanonicalNumbers(text), ...verified.problems] };
}

/** The same for a parsed receipt. */
export function verifyReceipt(value: unknown, books: readonly PriceBook[] = []): Verification {
  if (!hasForm(value)) {
    const problems = describeProblems(receiptSchema, value, problemsMax);
    return {
      problems: problems.map(({ path, expected, actual }) => ({
        path: path.join('.'),
        problem: `must be ${String(expected)}, but is ${String(actual)}`,
      })),
      rerated: 0,
    };
  }
  const rerated = value.rows.map((row, index) => ({ row, path: `rows.${index}`, charge: rerate(value, row, books) }));
  const problems = [
    ...checkWhole(value),
    ...rerated.flatMap(({ row, path }) => checkRow(row, path)),
    ...rerated.flatMap(({ row, path, charge }) => (charge === undefined ? [] : compareCharge(row, charge, path))),
  ];
  return { problems, rerated: rerated.filter(({ charge }) => charge !== undefined).length, receipt: value };
}

/** Numbers that are not in canonical form: they are read as another number, which could hide a changed digit. */
function nonCanonicalNumbers(text: string): ReceiptProblem[] {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g)]
    .map(([token]) => token)
    .filter((token) => !token.startsWith('"') && JSON.stringify(Number(token)) !== token)
    .map((token) => ({ path: '', problem: `the number ${token.slice(0, 40)} must be written as ${JSON.stringify(Number(token))}` }));
}

function differs(path: string, says: unknown, computed: unknown): ReceiptProblem[] {
  const [actual, expected] = [JSON.stringify(says), JSON.stringify(computed)];
  return actual === expected ? [] : [{ path, problem: `is ${actual}, but ${expected} was computed` }];
}

function checkWhole(receipt: Receipt): ReceiptProblem[] {
  const { rows } = receipt;
  const total = rows.reduce((sum, { amount }) => sum + BigInt(amount.nano_usd), 0n);
  return [
    ...differs('digest', receipt.digest, digestOf(receipt)),
    ...differs('rows.0.id', rows[0]?.id, receipt.request_id),
    ...checkMoney('total', receipt.total, total),
    ...differs('held', receipt.held, highestHold(rows)),
    ...(receipt.credits === undefined
      ? []
      : differs('credits.total', receipt.credits.total, creditsOf(total, { perUsd: receipt.credits.per_usd }))),
    ...differs('end', receipt.end, endOf(rows)),
    ...differs(
      'estimated',
      receipt.estimated,
      rows.some(({ estimated }) => estimated),
    ),
  ];
}

function checkMoney(path: string, money: ReceiptMoney, nanoUsd: bigint): ReceiptProblem[] {
  const expected = formatMoney(nanoUsd);
  return [...differs(`${path}.nano_usd`, money.nano_usd, expected.nano_usd), ...differs(`${path}.usd`, money.usd, expected.usd)];
}

function checkRow(row: ReceiptRow, path: string): ReceiptProblem[] {
  const { held } = row;
  const reason = estimateReason(row.estimated, row.end, row.usage_reported, row.disputed !== undefined);
  return [
    ...checkAmounts(row, path),
    ...(held === null ? [] : checkMoney(`${path}.held`, held, BigInt(held.nano_usd))),
    ...differs(`${path}.estimate_reason`, row.estimate_reason, reason),
    ...checkSettlement(row, path),
  ];
}

/** Only the settlement of a disputed row has reversed lines. */
function checkSettlement({ kind, settlement, lines, usage }: ReceiptRow, path: string): ReceiptProblem[] {
  if (settlement === undefined) {
    const hasReversedLines = lines.some(({ reversed }) => reversed === true);
    return [
      ...(kind === 'settlement' ? [{ path: `${path}.settlement`, problem: 'is missing' }] : []),
      ...(hasReversedLines ? [{ path: `${path}.lines`, problem: 'are reversed, but the row is not a settlement' }] : []),
    ];
  }
  const { before, after } = settlement;
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])].toSorted();
  const difference = Object.fromEntries(names.map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]));
  const actual = Object.fromEntries(
    Object.keys(usage)
      .toSorted()
      .map((name) => [name, usage[name]]),
  );
  return [...differs(`${path}.kind`, kind, 'settlement'), ...differs(`${path}.usage`, actual, difference)];
}

function checkAmounts(row: ReceiptRow, path: string): ReceiptProblem[] {
  const lines = row.lines.map(readLine);
  try {
    return [
      ...row.lines.flatMap((line, index) =>
        differs(`${path}.lines.${index}.amount_usd`, line.amount_usd, formatExact(sumLines([readLine(line)]))),
      ),
      ...differs(`${path}.sum_usd`, row.sum_usd, formatExact(sumLines(lines))),
      ...checkMoney(`${path}.amount`, row.amount, recomputeAmount(lines)),
    ];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ path: `${path}.lines`, problem: error.message }];
  }
}

function readLine({ unit_price_usd: unitPrice, multipliers, formula, reversed, ...line }: ReceiptRow['lines'][number]): ChargeLine {
  const { meter, quantity, per } = line;
  return {
    meter,
    quantity,
    unitPrice,
    per,
    ...(Object.keys(multipliers).length === 0 ? {} : { multipliers }),
    ...(formula === null ? {} : { formula }),
    ...(reversed === true ? { reversed } : {}),
  };
}

/** The charge of a row by the book of its version. Undefined if that book was not given. */
function rerate(receipt: Receipt, row: ReceiptRow, books: readonly PriceBook[]): Charge | undefined {
  const book = books.find(({ version }) => version === row.price.version);
  if (book === undefined) return undefined;
  if (row.end === 'failed') return { amountNanoUsd: 0n, lines: [] };
  const payer = { userName: receipt.user, keyId: receipt.key.id };
  if (row.tool_usage !== null) return book.rateTools(readCounts(row.tool_usage), payer);
  const rate = (usage: Readonly<Record<string, number>>): Charge =>
    book.rate({
      vendor: row.vendor,
      upstreamModel: row.upstream_model,
      requestedModel: receipt.requested_model,
      acceptedAtMs: Date.parse(receipt.accepted_at),
      usage: readCounts(usage),
      serviceTier: row.service_tier ?? undefined,
      pricingParameters: { ...row.pricing_parameters, ...row.reply_parameters },
      ...payer,
    });
  return row.settlement === undefined ? rate(row.usage) : chargeDifference(rate(row.settlement.before), rate(row.settlement.after));
}

function compareCharge(row: ReceiptRow, charge: ReturnType<PriceBook['rate']>, path: string): ReceiptProblem[] {
  const lines = row.lines.map(readLine);
  const shown = (line: ChargeLine | undefined): unknown =>
    line === undefined ? null : canonicalJson({ ...line, multipliers: line.multipliers ?? {} });
  const count = Math.max(lines.length, charge.lines.length);
  return [
    ...Array.from({ length: count }, (_, index) =>
      differs(`${path}.lines.${index}`, shown(lines[index]), shown(charge.lines[index])),
    ).flat(),
    ...(row.end === 'failed' ? [] : differs(`${path}.price.id`, row.price.id, charge.priceId ?? null)),
  ];
}
