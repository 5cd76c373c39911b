import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import { objectsOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';

/** Types are dated, and new dates come: the beginning tells the tool. */
const kindByPrefix: readonly (readonly [prefix: string, kind: BuiltInToolKind])[] = [
  ['web_search_', 'web-search'],
  ['web_fetch_', 'url-context'],
  ['code_execution_', 'code-execution'],
];

/** Which tool of those that a service runs is of this type; undefined for the caller's own and for tools that only the vendor knows. */
export function builtInToolOf(type: string): BuiltInToolKind | undefined {
  return kindByPrefix.find(([prefix]) => type.startsWith(prefix))?.[1];
}

/** The built-in tools among `tools`, each kind once. */
export function listBuiltInTools(tools: JsonValue | undefined): readonly BuiltInToolKind[] {
  if (tools === undefined) return [];
  return [...new Set(objectsOf(tools).flatMap(({ type }) => builtInToolOf(textOf(type) ?? '') ?? []))];
}
