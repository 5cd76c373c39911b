import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import { objectsOf, textOf } from '../../platform/json/json-readers.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';

/** The kind of built-in tool with this type. Undefined for functions and for tools that only the vendor runs. */
export function builtInToolOf(type: string): BuiltInToolKind | undefined {
  if (type === 'file_search') return 'file-search';
  if (type === 'code_interpreter') return 'code-execution';
  if (type === 'image_generation') return 'image-generation';
  // The vendor appends dates: web_search_preview_2025_03_11.
  return type.startsWith('web_search') ? 'web-search' : undefined;
}

/** The kinds of built-in tools in `tools`, without duplicates. */
export function listBuiltInTools(tools: JsonValue | undefined): readonly BuiltInToolKind[] {
  if (tools === undefined) return [];
  return [...new Set(objectsOf(tools).flatMap(({ type }) => builtInToolOf(textOf(type) ?? '') ?? []))];
}
