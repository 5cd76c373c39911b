import type { ModelKind } from '../inference/interfaces.ts';

/** What models with such a name are made for: one thing, or several. */
export type ModelKindRule = { readonly names: RegExp; readonly kinds: readonly ModelKind[] };

/** What a vendor's model is made for; undefined where that is not known, as of every model of one's own servers. */
export function modelKindsOf(
  { modelKinds = [] }: { readonly modelKinds?: readonly ModelKindRule[] },
  upstreamModel: string,
): readonly ModelKind[] | undefined {
  const name = upstreamModel.toLowerCase().replace(/^ft:/, '');
  return modelKinds.find(({ names }) => names.test(name))?.kinds;
}
