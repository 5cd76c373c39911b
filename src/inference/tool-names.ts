import { createHash } from 'node:crypto';
import type { InferenceRequest } from './inference-request.ts';

export type ToolNameRules = {
  /** A character that may stand in a name. */
  readonly pattern: RegExp;
  /** A character that may begin one, where that is narrower. */
  readonly firstPattern?: RegExp;
  readonly charactersMax: number;
};

/**
 * Every function's name that a request holds: of those that are offered or chosen, and of past calls, which may be of functions that are
 * offered no longer.
 */
export function listToolNames({ tools, toolChoice, turns }: InferenceRequest): ReadonlySet<string> {
  const offered = tools.flatMap((tool) => (tool.kind === 'function' ? [tool.name] : []));
  const called = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])));
  const chosen = toolChoice?.kind === 'function' ? [toolChoice.name] : toolChoice?.kind === 'allowed' ? toolChoice.names : [];
  return new Set([...offered, ...called, ...chosen]);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

function fitName(name: string, rules: ToolNameRules): string {
  const { pattern, firstPattern, charactersMax } = rules;
  const fitted = Array.from(name, (character) => (pattern.test(character) ? character : '_')).join('');
  const begun = fitted === '' || (firstPattern !== undefined && !firstPattern.test(fitted.charAt(0))) ? `_${fitted}` : fitted;
  if (begun === name && name.length <= charactersMax) return name;
  // The digest of the whole name keeps names apart that fit to the same letters, and is the same in every request.
  return `${begun.slice(0, charactersMax - 9)}_${digest(name)}`;
}

/**
 * Fits functions' names to what an upstream allows: letter for letter where they fit, otherwise by a mapping that replies are mapped back
 * with.
 */
export function fitToolNames(
  names: Iterable<string>,
  rules: ToolNameRules,
): { readonly toWireName: (name: string) => string; readonly renamed: ReadonlyMap<string, string> } {
  const renamed = new Map<string, string>();
  for (const name of names) {
    const fitted = fitName(name, rules);
    if (fitted !== name) renamed.set(fitted, name);
  }
  return { toWireName: (name) => fitName(name, rules), renamed };
}
