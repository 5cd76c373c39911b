import type { LedgerStore } from '../../billing/ledger/ledger-store.ts';
import type { Condition } from './condition.ts';

const dayMs = 24 * 3_600_000;
const fiveMinutes = 5 * 60_000;
const modelsMax = 100;

/** Finds models whose calls of the last 24 hours were booked at zero because they have no price. */
export function createUnpricedCondition(store: Pick<LedgerStore, 'listUnpriced'>): Condition {
  return {
    rules: ['price_missing'],
    everyMs: fiveMinutes,
    find: async ({ nowMs }) => {
      const models = await store.listUnpriced({ startMs: nowMs - dayMs, endMs: nowMs + dayMs, limit: modelsMax });
      return models.map(({ requestedModel, calls }) => ({
        rule: 'price_missing',
        subject: `model:${requestedModel.slice(0, 200)}`,
        period: '',
        level: 1,
        basis: '',
        severity: 'warning',
        summary: `${calls} calls of model ${requestedModel.slice(0, 200)} in the last 24 hours have no price and were booked at 0 USD.`,
        action: 'Add its price to models.<name>.price or to the price book, and see these calls with weir usage --unpriced.',
      }));
    },
  };
}
