import { creditsOf } from '../rating/format-credits.ts';
import type { CreditUnit } from '../rating/rating.ts';
import { formatMoney } from './exact-text.ts';
import type { Receipt } from './receipt.ts';

/** An amount in answers; with `credits` if the operator has a unit. */
export type ShownMoney = ReturnType<typeof formatMoney> & { readonly credits?: string };

/** Writes amounts of an answer, in USD and in the operator's unit, if any. */
export function createMoneyWriter(unit: CreditUnit | undefined): (nanoUsd: bigint) => ShownMoney {
  if (unit === undefined) return formatMoney;
  return (nanoUsd) => ({ ...formatMoney(nanoUsd), credits: creditsOf(nanoUsd, unit) });
}

/** Describes the operator's unit in an answer; empty if there is none. */
export function describeUnit(unit: CreditUnit | undefined): { readonly credit_unit?: { readonly name: string; readonly per_usd: string } } {
  return unit === undefined ? {} : { credit_unit: { name: unit.name, per_usd: unit.perUsd } };
}

/** Adds the total in the operator's present unit to a receipt. The books do not contain it, so the digest omits it. */
export function showCredits(receipt: Receipt, unit: CreditUnit | undefined): Receipt {
  if (unit === undefined) return receipt;
  const total = creditsOf(BigInt(receipt.total.nano_usd), unit);
  return { ...receipt, credits: { name: unit.name, per_usd: unit.perUsd, total } };
}
