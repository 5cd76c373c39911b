import type { ModelTraits } from '../inference/model-traits.ts';
import { applyQuirks, type Quirks } from './apply-quirks.ts';

/**
 * A row of a vendor's table: the models whose names match, and their differences from the usual model of this vendor.
 */
export type ModelRule = { readonly names: RegExp; readonly differs: Quirks };

/**
 * Creates the look-up of a vendor's models. The first matching rule applies, so special names come before general ones.
 * @param usual the traits of names that no rule matches. Vendors add models more often than they rename old ones, so
 * these are the traits of the newest.
 * @param plainName removes prefixes and suffixes of this vendor from a model's name, such as `models/` or `ft:`; the
 * rules see the rest in lower case.
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
