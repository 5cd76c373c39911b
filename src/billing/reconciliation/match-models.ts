import type { CallEntry } from '../ledger/call-entry.ts';
import { modelSpellings } from '../rating/model-spellings.ts';

/** The names in a row that may be the vendor's. */
type NamedModels = Pick<CallEntry, 'upstreamModel' | 'servedModel'>;

/**
 * Finds the model of a vendor's export for a row: by the name in the reply, then by the requested name, then by either
 * without `-latest` and snapshot dates if only one model of the export matches. Undefined if the export does not have
 * it.
 */
export function createModelMatcher(models: Iterable<string>): (row: NamedModels) => string | undefined {
  const exact = new Set(models);
  const spelled = new Map<string, Set<string>>();
  for (const model of exact)
    for (const spelling of modelSpellings(model)) spelled.getOrInsertComputed(spelling, () => new Set()).add(model);
  const byName = (name: string): string | undefined => (exact.has(name) ? name : undefined);
  const bySpelling = (name: string): string | undefined => {
    const found = new Set(modelSpellings(name).flatMap((spelling) => [...(spelled.get(spelling) ?? [])]));
    const [only] = found;
    return found.size === 1 ? only : undefined;
  };
  return ({ servedModel, upstreamModel }) => {
    const names = servedModel === undefined ? [upstreamModel] : [servedModel, upstreamModel];
    for (const find of [byName, bySpelling])
      for (const name of names) {
        const found = find(name);
        if (found !== undefined) return found;
      }
    return undefined;
  };
}
