import type { ModelKind } from '../inference/interfaces.ts';

/** The kinds of models whose names match. */
export type ModelKindRule = { readonly names: RegExp; readonly kinds: readonly ModelKind[] };

/** Finds the kinds of a vendor's model. Undefined if they are not known, as for every model of a self-hosted server. */
export function modelKindsOf(
  { modelKinds = [] }: { readonly modelKinds?: readonly ModelKindRule[] },
  upstreamModel: string,
): readonly ModelKind[] | undefined {
  const name = upstreamModel.toLowerCase().replace(/^ft:/, '');
  return modelKinds.find(({ names }) => names.test(name))?.kinds;
}
