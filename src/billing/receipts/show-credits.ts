import { creditsOf } from '../rating/format-credits.ts';
import type { CreditUnit } from '../rating/rating.ts';
import { formatMoney } from './exact-text.ts';
import type { Receipt } from './receipt.ts';

/** An amount as answers show it; `credits` where the operator has a unit of its own. */
export type ShownMoney = ReturnType<typeof formatMoney> & { readonly credits?: string };

/** Writes amounts of an answer, with what they are in the operator's unit, if there is one. */
export function createMoneyWriter(unit: CreditUnit | undefined): (nanoUsd: bigint) => ShownMoney {
  if (unit === undefined) return formatMoney;
  return (nanoUsd) => ({ ...formatMoney(nanoUsd), credits: creditsOf(nanoUsd, unit) });
}

/** What an answer says of the unit that its amounts are in beside USD; nothing where there is none. */
export function describeUnit(unit: CreditUnit | undefined): { readonly credit_unit?: { readonly name: string; readonly per_usd: string } } {
  return unit === undefined ? {} : { credit_unit: { name: unit.name, per_usd: unit.perUsd } };
}

/** A receipt with its total in the operator's unit of today. The books know nothing of it, and so the digest leaves it out. */
export function showCredits(receipt: Receipt, unit: CreditUnit | undefined): Receipt {
  if (unit === undefined) return receipt;
  const total = creditsOf(BigInt(receipt.total.nano_usd), unit);
  return { ...receipt, credits: { name: unit.name, per_usd: unit.perUsd, total } };
}
