import type { BuiltInToolKind } from '../../inference/inference-request.ts';

/** Types contain a date and new dates will follow, so the prefix identifies the tool. */
const kindByPrefix: readonly (readonly [prefix: string, kind: BuiltInToolKind])[] = [
  ['web_search_', 'web-search'],
  ['web_fetch_', 'url-context'],
  ['code_execution_', 'code-execution'],
];

/** Finds the built-in tool of a type. Undefined for the caller's own tools and for tools that only the vendor has. */
export function builtInToolOf(type: string): BuiltInToolKind | undefined {
  return kindByPrefix.find(([prefix]) => type.startsWith(prefix))?.[1];
}

/** Lists the built-in tools among the types of `tools`, each kind once. */
export function listBuiltInTools(types: readonly string[]): readonly BuiltInToolKind[] {
  return [...new Set(types.flatMap((type) => builtInToolOf(type) ?? []))];
}
