import { ValueChange } from '../../components/value-change.tsx';
import { findDifferences } from '../../components/value-differences.ts';

/** What one layer has and another one has not. A secret shows its end and the layer that it came with. */
export function Difference({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  return findDifferences(before, after).length === 0 ? <p>Nothing differs.</p> : <ValueChange before={before} after={after} />;
}
