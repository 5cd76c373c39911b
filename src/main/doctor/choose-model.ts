import type { Upstream } from '../../gateway/routing/routing-table.ts';
import type { UsableConfiguration } from './check-configuration.ts';

/** Counts of a small call, to compare prices by. */
const sampleUsage = { inputTokens: 1000, outputTokens: 1000 };

/**
 * The model that an upstream is checked with: the first that the configuration sends there, else the cheapest of the price book that the upstream
 * lists (or of the book, where it lists none), else the first that it lists. Undefined when there is none.
 */
export function chooseModel(
  upstream: Upstream,
  { config, settings }: UsableConfiguration,
  listed: readonly string[],
  nowMs: number,
): string | undefined {
  const configured = Object.entries(config.models ?? {}).flatMap(([name, { targets }]) =>
    targets.filter((target) => target.upstream === upstream.id).map(({ model = name }) => model),
  );
  const named = configured.find((model) => !model.endsWith('*'));
  if (named !== undefined) return named;
  const vendor = upstream.vendor.id;
  const { priceBook } = settings.routing;
  const priceOf = (model: string): bigint =>
    priceBook.rate({ vendor, upstreamModel: model, requestedModel: model, acceptedAtMs: nowMs, usage: sampleUsage }).amountNanoUsd;
  const booked = priceBook.models(vendor).map(({ model }) => ({ model, price: priceOf(model) }));
  const served = booked.filter(({ model }) => listed.includes(model));
  const [cheapest] = (served.length > 0 ? served : booked)
    .filter(({ price }) => price > 0n)
    .toSorted((one, other) => Number(one.price - other.price));
  return cheapest?.model ?? listed[0];
}
