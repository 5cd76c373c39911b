/**
 * The names under which a model is looked up, best first. There are no other matching rules:
 *
 * 1. the name as it stands;
 * 2. without Gemini's resource prefix `models/`;
 * 3. without a trailing `-latest`, or without a trailing snapshot date (`-20250929`, `-2025-08-07`).
 *
 * Nothing else matches: a name that only begins like a listed one may be a model with another price.
 */
export function modelSpellings(model: string): readonly string[] {
  const bare = model.startsWith('models/') ? model.slice('models/'.length) : model;
  const undated = bare.replace(/-latest$/, '').replace(/-20\d{2}(?:\d{4}|-\d{2}-\d{2})$/, '');
  return [...new Set([model, bare, undated])];
}
