import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import { objectsOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';

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

/** Lists the built-in tools among `tools`, each kind once. */
export function listBuiltInTools(tools: JsonValue | undefined): readonly BuiltInToolKind[] {
  if (tools === undefined) return [];
  return [...new Set(objectsOf(tools).flatMap(({ type }) => builtInToolOf(textOf(type) ?? '') ?? []))];
}
