import { hash } from 'node:crypto';
import { countTokens } from './count-tokens.ts';

type CacheLookup = {
  readonly model: string;
  /** The marked prefix of the prompt. */
  readonly prefix: string;
  /** The tool definitions inside the prefix, as text; they precede it. */
  readonly tools: string;
  readonly lifetime: '5m' | '1h';
  readonly nowMs: number;
};

type CacheCounts = { readonly readTokens: number; readonly writeTokens: number };

/**
 * The simulated vendor's prompt cache: the first use of a prefix writes it, a later one reads it, and a longer prefix
 * reads the longest known beginning and writes the rest. Reading renews the lifetime. There is no minimum size.
 */
export type PromptCache = {
  /** Counts without a change, and returns the change that an answered call makes. */
  readonly look: (lookup: CacheLookup) => CacheCounts & { readonly keep: () => void };
  readonly clear: () => void;
};

type Entry = { readonly length: number; readonly digest: string; expiresAtMs: number };

const familiesMax = 2_000;
const entriesPerFamilyMax = 16;
const familyCharacters = 64;
const lifetimeMs = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;

export function createPromptCache(): PromptCache {
  // Prompts with the same beginning are one family, so that each call is compared with only a few beginnings.
  const families = new Map<string, Entry[]>();
  return {
    look(lookup) {
      const family = hash('sha256', `${lookup.model}\n${lookup.tools}\n${lookup.prefix.slice(0, familyCharacters)}`);
      const known = longestKnown(families.get(family) ?? [], lookup);
      const toolTokens = countTokens(lookup.tools);
      const total = countTokens(lookup.prefix) + toolTokens;
      const readTokens = known === undefined ? 0 : countTokens(lookup.prefix.slice(0, known.length)) + toolTokens;
      return { readTokens, writeTokens: total - readTokens, keep: () => remember(families, family, lookup) };
    },
    clear: () => families.clear(),
  };
}

function longestKnown(entries: readonly Entry[], lookup: CacheLookup): Entry | undefined {
  let longest: Entry | undefined;
  for (const entry of entries) {
    if (entry.expiresAtMs <= lookup.nowMs || entry.length > lookup.prefix.length || (longest && entry.length <= longest.length)) continue;
    if (hash('sha256', lookup.prefix.slice(0, entry.length)) === entry.digest) longest = entry;
  }
  return longest;
}

function remember(families: Map<string, Entry[]>, family: string, lookup: CacheLookup): void {
  const entries = families.get(family) ?? [];
  const expiresAtMs = lookup.nowMs + lifetimeMs[lookup.lifetime];
  const known = longestKnown(entries, lookup);
  if (known !== undefined) known.expiresAtMs = Math.max(known.expiresAtMs, expiresAtMs);
  if (known?.length === lookup.prefix.length) return;
  entries.push({ length: lookup.prefix.length, digest: hash('sha256', lookup.prefix), expiresAtMs });
  if (entries.length > entriesPerFamilyMax) entries.shift();
  families.set(family, entries);
  if (families.size > familiesMax) families.delete(families.keys().next().value ?? family);
}
