import { createHash } from 'node:crypto';
import type { InferenceRequest } from './inference-request.ts';

export type ToolNameRules = {
  /** A character that a name may contain. */
  readonly pattern: RegExp;
  /** A character that may begin a name, if fewer are allowed there. */
  readonly firstPattern?: RegExp;
  readonly charactersMax: number;
};

/**
 * Lists the names of all functions in a request: offered ones, chosen ones, and those of past calls, which may no
 * longer be offered.
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
  const prefixed = fitted === '' || (firstPattern !== undefined && !firstPattern.test(fitted.charAt(0))) ? `_${fitted}` : fitted;
  if (prefixed === name && name.length <= charactersMax) return name;
  // The digest of the whole name separates names that become the same letters, and is the same in every request.
  return `${prefixed.slice(0, charactersMax - 9)}_${digest(name)}`;
}

/**
 * Fits names of functions to the rules of an upstream. Names that fit are unchanged; the others get a mapping, with
 * which replies are mapped back.
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
