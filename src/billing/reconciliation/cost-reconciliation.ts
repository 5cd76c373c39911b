import { type CallEntry, isBilled } from '../ledger/call-entry.ts';
import { meters, partsOf, useMeters, summableMeters } from '../../inference/meters.ts';
import type { Fraction } from '../rating/decimal.ts';
import { add, zero } from '../rating/fraction.ts';
import { groundedPrompt } from '../rating/media-lines.ts';
import type { PriceBook } from '../rating/rating.ts';
import { roundToNanoUsd, sumLines } from '../rating/recompute-amount.ts';
import { createModelMatcher } from './match-models.ts';
import { noModel, type VendorCosts } from './vendor-costs.ts';
import { dayIn } from './vendor-usage.ts';

/**
 * The cost of one item on a day: a class of a model's tokens, or a tool. Amounts are in nano-USD, rounded half up once.
 */
export type ComparedCost = {
  readonly day: string;
  readonly model: string;
  readonly item: string;
  /** The ledger's usage at the vendor's list price. */
  readonly listNanoUsd: bigint;
  readonly theirNanoUsd: bigint;
  /** The vendor's cost minus the ledger's at list price. */
  readonly differenceNanoUsd: bigint;
};

/** The charges of users for the calls of a day, with all their factors and price overrides. */
export type ChargedDay = { readonly day: string; readonly model: string; readonly chargedNanoUsd: bigint };

type Sums = { readonly day: string; readonly model: string; readonly item: string; list: Fraction; theirs: Fraction };

/** Lines of a charge with another name in a vendor's report, which does not group tools by model. */
const itemOfMeter: ReadonlyMap<string, string> = new Map(
  summableMeters.flatMap((whole) => partsOf(whole).map((part) => [meters[part].line, meters[whole].line] as const)),
);
const toolLines: ReadonlySet<string> = new Set([...useMeters.map((meter) => meters[meter].line), groundedPrompt]);

/**
 * Compares a vendor's costs with the ledger's usage at list price. Its memory grows with models times days, not with
 * calls.
 */
export class CostReconciliation {
  readonly #theirs: VendorCosts;
  readonly #source: { readonly vendor: string; readonly upstream?: string; readonly listPrices: PriceBook };
  readonly #matchModel: ReturnType<typeof createModelMatcher>;
  readonly #isWhole: boolean;
  readonly #sums = new Map<string, Sums>();
  readonly #charged = new Map<string, { day: string; model: string; nanoUsd: bigint }>();

  /** @param source the vendor in the ledger's names, and its list prices: a book without overrides and factors */
  constructor(theirs: VendorCosts, source: { readonly vendor: string; readonly upstream?: string; readonly listPrices: PriceBook }) {
    this.#theirs = theirs;
    this.#source = source;
    this.#matchModel = createModelMatcher(new Set(theirs.costs.map(({ model }) => model).filter((model) => model !== noModel)));
    // An export without groups has one amount a day: the ledger is then added up in the same way.
    this.#isWhole = theirs.costs.every(({ model, item }) => model === noModel && item === 'all');
    for (const { model, startMs, item, usd } of theirs.costs) {
      const sums = this.#find(dayIn(theirs.timeZone, startMs), model, item);
      sums.theirs = add(sums.theirs, usd);
    }
  }

  /** Adds a row of the ledger that was accepted in the time of the export. */
  add(entry: CallEntry): void {
    const { vendor, upstream, listPrices } = this.#source;
    if (entry.toolUsage !== undefined || entry.vendor !== vendor || !isBilled(entry)) return;
    if (upstream !== undefined && entry.upstream !== upstream) return;
    const day = dayIn(this.#theirs.timeZone, entry.acceptedAtMs);
    const model = this.#isWhole ? noModel : (this.#matchModel(entry) ?? entry.servedModel ?? entry.upstreamModel);
    const { vendor: of, upstreamModel, requestedModel, acceptedAtMs, usage, serviceTier } = entry;
    const pricingParameters = { ...entry.pricingParameters, ...entry.replyParameters };
    const { lines } = listPrices.rate({ vendor: of, upstreamModel, requestedModel, acceptedAtMs, usage, serviceTier, pricingParameters });
    for (const line of lines) {
      const isTool = toolLines.has(line.meter);
      const item = this.#isWhole ? 'all' : (itemOfMeter.get(line.meter) ?? line.meter);
      const sums = this.#find(day, isTool ? noModel : model, item);
      sums.list = add(sums.list, sumLines([line]));
    }
    const charged = this.#charged.getOrInsertComputed(`${day}\n${model}`, () => ({ day, model, nanoUsd: 0n }));
    charged.nanoUsd += entry.charge.amountNanoUsd;
  }

  /** All items, by day, model and item. */
  costs(): readonly ComparedCost[] {
    return [...this.#sums.values()]
      .map(({ day, model, item, list, theirs }) => {
        const [listNanoUsd, theirNanoUsd] = [roundToNanoUsd(list), roundToNanoUsd(theirs)];
        return { day, model, item, listNanoUsd, theirNanoUsd, differenceNanoUsd: theirNanoUsd - listNanoUsd };
      })
      .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  }

  /** The charges, by day and model. */
  charged(): readonly ChargedDay[] {
    return [...this.#charged.values()]
      .map(({ day, model, nanoUsd }) => ({ day, model, chargedNanoUsd: nanoUsd }))
      .toSorted((one, other) => (`${one.day}\n${one.model}` < `${other.day}\n${other.model}` ? -1 : 1));
  }

  #find(day: string, model: string, item: string): Sums {
    return this.#sums.getOrInsertComputed(keyOf({ day, model, item }), () => ({ day, model, item, list: zero, theirs: zero }));
  }
}

const keyOf = ({ day, model, item }: Pick<Sums, 'day' | 'model' | 'item'>): string => `${day}\n${model}\n${item}`;
