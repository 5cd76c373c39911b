import { type Document, visit } from 'yaml';

import { pathOfVisited } from '../../platform/yaml/yaml-position.ts';
import { parseSecretReference } from '../../upstreams/credentials/secrets/secret-reference.ts';
import { isSecretPath } from './secret-paths.ts';

/** What the references of a configuration stand for. */
export type ReferenceLookup = {
  readonly variable: (name: string) => string | undefined;
  /** The secrets, by the part between `${` and `}`. Absent: this program reads none, and references stay. */
  readonly secrets?: { readonly find: (reference: string) => string } | undefined;
};

type Path = readonly (string | number)[];
/** @param offset of the value in the text */
type Report = (offset: number, path: Path, message: string) => void;

/** A secret `${kind:place}`, or a variable `${NAME}` or `${NAME:-fallback}`; after `$$` it is literal text. */
const referencePattern =
  /\$(?<escaped>\$)?\{(?:(?<secret>[A-Za-z][A-Za-z0-9-]*:(?!-)[^}]*)|(?<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?<fallback>[^}]*))?)\}/g;

/** The parts of a reference that are there. */
export type ReferenceParts = Readonly<Partial<Record<'escaped' | 'secret' | 'name' | 'fallback', string>>>;

/** The parts of the first reference in a text; none if it has none. */
export function firstReference(text: string): ReferenceParts {
  return new RegExp(referencePattern.source).exec(text)?.groups ?? {};
}

/** Replaces the references in a text. @param replace gets the parts and the whole */
export function replaceReferences(text: string, replace: (parts: ReferenceParts, whole: string) => string): string {
  return text.replaceAll(referencePattern, (whole: string, ...found: unknown[]) => replace(found.at(-1) as ReferenceParts, whole));
}

/**
 * Replaces the references in the values of a document.
 * @param report called for each that has no value
 * @returns the places whose secrets are not known, so that nobody judges their values
 */
export function resolveReferences(document: Document, { variable, secrets }: ReferenceLookup, report: Report): readonly Path[] {
  const unread: Path[] = [];
  visit(document, {
    Scalar: (key, node, ancestors) => {
      if (key === 'key' || typeof node.value !== 'string') return;
      const { value: written, range } = node;
      node.value = replaceReferences(written, ({ escaped, secret, name = '', fallback }, whole) => {
        if (escaped !== undefined) return whole.slice(1);
        const offset = range?.[0] ?? 0;
        if (secret === undefined) {
          const value = variable(name) ?? fallback;
          if (value === undefined) report(offset, [], `environment variable ${name} is not set`);
          return value ?? '';
        }
        const path = pathOfVisited(ancestors, key);
        const found = findSecret(secret, path, secrets);
        if (found.value !== undefined) return found.value;
        unread.push(path);
        // The key of an upstream may be missing: its calls wait for it, and the other upstreams serve meanwhile.
        if (found.problem !== undefined && (found.isFinal || written !== whole || !isUpstreamKey(path)))
          report(offset, path, found.problem);
        return whole;
      });
    },
  });
  return unread;
}

/** Whether a secret may be missing at a place while the program serves. */
export const isUpstreamKey = ([part, , member]: Path): boolean => part === 'upstreams' && (member === 'apiKey' || member === 'apiKeys');

type FoundSecret = { readonly value?: string; readonly problem?: string; readonly isFinal?: boolean };

function findSecret(reference: string, path: Path, secrets: ReferenceLookup['secrets']): FoundSecret {
  const parsed = parseSecretReference(reference);
  if (typeof parsed === 'string') return { problem: parsed, isFinal: true };
  if (path[0] === 'secrets')
    return { problem: 'must not be a secret by reference; use "${NAME}", or the setting that names a file', isFinal: true };
  if (!isSecretPath(path))
    return {
      problem: `must not refer to a secret, because values here are shown in answers and logs; only keys, passwords, headers and addresses of receivers may, and variables ("\${NAME}") may stand anywhere`,
      isFinal: true,
    };
  if (secrets === undefined) return {};
  try {
    return { value: secrets.find(reference) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
