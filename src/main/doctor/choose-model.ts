import type { Upstream } from '../../gateway/attempts/routing/target.ts';
import type { Usage } from '../../inference/usage.ts';
import { mayTalk } from './list-picture-models.ts';
import type { UsableConfiguration } from './check-configuration.ts';

/** Usage of a small call, to compare prices. */
const inputUsage = { inputTokens: 1000 };
const outputUsage = { outputTokens: 1000 };

/**
 * The model that an upstream is checked with: the first that the configuration sends there, else the cheapest of the
 * price book that the upstream lists (or of the book, where it lists none), else the first that it lists. Models that
 * do not write text are skipped. Undefined if there is none.
 */
export function chooseModel(
  upstream: Upstream,
  { config, settings }: UsableConfiguration,
  listed: readonly string[],
  nowMs: number,
): string | undefined {
  const vendor = upstream.vendor.id;
  const configured = Object.entries(config.models ?? {}).flatMap(([name, { targets, kind }]) =>
    targets
      .filter((target) => target.upstream === upstream.id)
      .map(({ model = name }) => model)
      .filter((model) => mayTalk(upstream, model, kind)),
  );
  const { priceBook } = settings.routing;
  const rate = (model: string, usage: Usage): bigint =>
    priceBook.rate({ vendor, upstreamModel: model, requestedModel: model, acceptedAtMs: nowMs, usage }).amountNanoUsd;
  const priceOf = (model: string): bigint => rate(model, inputUsage) + rate(model, outputUsage);
  // A model with a price for input and none for output does not write text.
  const answers = (model: string): boolean => rate(model, inputUsage) === 0n || rate(model, outputUsage) > 0n;
  const speaks = (model: string): boolean => mayTalk(upstream, model) && answers(model);
  const named = configured.find((model) => !model.endsWith('*') && answers(model));
  if (named !== undefined) return named;
  const booked = priceBook.models(vendor).map(({ model }) => ({ model, price: priceOf(model) }));
  const served = booked.filter(({ model }) => listed.includes(model));
  const [cheapest] = (served.length > 0 ? served : booked)
    .filter(({ model, price }) => price > 0n && speaks(model))
    .toSorted((one, other) => Number(one.price - other.price));
  return cheapest?.model ?? listed.find(speaks);
}
