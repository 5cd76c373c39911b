import { type Static, Type } from 'typebox';

import type { ComparedAccount } from '../../../billing/reconciliation/compare-account.ts';
import { likelyCauses } from '../../../billing/reconciliation/reconciliation.ts';
import { signs } from '../../../billing/reconciliation/row-usage.ts';
import { isCostDifferent, isCostOver, isOver } from '../../../billing/reconciliation/tolerance.ts';
import { usageClasses } from '../../../billing/reconciliation/vendor-usage.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { moneySchema, nullable, record } from '../../contract/values.ts';

const cellSchema = record({
  model: Type.String(),
  day: Type.String({ description: "A day of the vendor's time zone." }),
  usage: Type.Array(
    record({
      class: Type.Enum(usageClasses),
      ours: Type.Integer(),
      theirs: Type.Integer(),
      difference: Type.Integer({ description: "The vendor's count minus ours." }),
      over_tolerance: Type.Boolean(),
    }),
  ),
  signs: Type.Record(Type.String(), Type.Integer(), { description: `Rows of the ledger with a sign: ${signs.join(', ')}.` }),
  likely_causes: Type.Array(Type.String()),
});
const costSchema = record({
  day: Type.String(),
  model: Type.String({ description: '- for what belongs to no model.' }),
  item: Type.String(),
  ours: { ...moneySchema, description: "The ledger's usage at list price." },
  theirs: moneySchema,
  difference: moneySchema,
  over_tolerance: Type.Boolean(),
});

export const resultSchema = record({
  cells: nullable(Type.Array(cellSchema, { description: 'Of usage. Null for costs.' })),
  costs: nullable(Type.Array(costSchema, { description: 'Null for usage.' })),
  charged: nullable(
    Type.Array(record({ day: Type.String(), model: Type.String(), charged: moneySchema }), {
      description: 'What users were charged, with all factors. Null for usage.',
    }),
  ),
  unread: Type.Array(Type.String(), { description: 'Data of the export that is not compared.' }),
  left_out: nullable(
    Type.Record(Type.String(), Type.Integer(), { description: 'Calls of kinds that such an export cannot contain. Null for costs.' }),
  ),
});

/** @param differing only what differs */
export function encodeResult(compared: ComparedAccount, tolerance: number, differing: boolean): Static<typeof resultSchema> {
  const unread = [...compared.unread];
  if (compared.kind === 'usage') {
    const cells = compared.cells.filter(({ usage }) => !differing || usage.some(({ difference }) => difference !== 0));
    return {
      cells: cells.map((cell) => ({
        model: cell.model,
        day: cell.day,
        usage: cell.usage.map((each) => ({
          class: each.usageClass,
          ours: each.ours,
          theirs: each.theirs,
          difference: each.difference,
          over_tolerance: isOver(each, tolerance),
        })),
        signs: { ...cell.signs },
        likely_causes: likelyCauses(cell),
      })),
      costs: null,
      charged: null,
      unread,
      left_out: { ...compared.leftOut },
    };
  }
  return {
    cells: null,
    costs: compared.costs
      .filter((cost) => !differing || isCostDifferent(cost))
      .map((cost) => ({
        day: cost.day,
        model: cost.model,
        item: cost.item,
        ours: formatMoney(cost.listNanoUsd),
        theirs: formatMoney(cost.theirNanoUsd),
        difference: formatMoney(cost.differenceNanoUsd),
        over_tolerance: isCostOver(cost, tolerance),
      })),
    charged: compared.charged.map(({ day, model, chargedNanoUsd }) => ({ day, model, charged: formatMoney(chargedNanoUsd) })),
    unread,
    left_out: null,
  };
}
