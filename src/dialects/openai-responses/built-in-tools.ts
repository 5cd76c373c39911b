import type { BuiltInToolKind } from '../../inference/inference-request.ts';

/** The kind of built-in tool with this type. Undefined for functions and for tools that only the vendor runs. */
export function builtInToolOf(type: string): BuiltInToolKind | undefined {
  if (type === 'file_search') return 'file-search';
  if (type === 'code_interpreter') return 'code-execution';
  if (type === 'image_generation') return 'image-generation';
  // The vendor appends dates: web_search_preview_2025_03_11.
  return type.startsWith('web_search') ? 'web-search' : undefined;
}

/** The kinds of built-in tools among the types of `tools`, without duplicates. */
export function listBuiltInTools(types: readonly string[]): readonly BuiltInToolKind[] {
  return [...new Set(types.flatMap((type) => builtInToolOf(type) ?? []))];
}
