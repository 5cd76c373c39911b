import type { ModelTraits } from '../inference/model-traits.ts';
import { applyQuirks, type Quirks } from './apply-quirks.ts';

/** A line of a vendor's table: models whose name matches, and what of them is not as usual at this vendor. */
export type ModelRule = { readonly names: RegExp; readonly differs: Quirks };

/**
 * Makes the look-up of a vendor's models. The first rule that matches holds, so special names stand before general ones.
 * @param usual what holds for names that no rule matches. Vendors name new models more often than old ones, so this is what the newest do.
 * @param plainName takes off what stands around a model's name at this vendor, such as `models/` or `ft:`; the rules see the rest in lower
 * case.
 */
export function createModelTable(
  usual: ModelTraits,
  rules: readonly ModelRule[],
  plainName: (model: string) => string = (model) => model,
): (upstreamModel: string) => ModelTraits {
  const lines = rules.map(({ names, differs }) => ({ names, traits: applyQuirks(usual, differs) }));
  return (upstreamModel) => {
    const name = plainName(upstreamModel.toLowerCase());
    return lines.find(({ names }) => names.test(name))?.traits ?? usual;
  };
}
