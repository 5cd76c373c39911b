import { parseDocument, visit } from 'yaml';

import { checkWithoutCompiling } from '../../platform/schema/compile-check.ts';
import { pathOfVisited } from '../../platform/yaml/yaml-position.ts';
import { secretsSchema, type SecretsSettings } from '../../upstreams/credentials/secrets/secrets-schema.ts';
import { isUpstreamKey, replaceReferences, resolveReferences } from './resolve-references.ts';

/** The secrets that a configuration refers to, and where they are. */
export type NeededSecrets = {
  /** Keys of upstreams, without which a gateway can serve. */
  readonly keys: readonly string[];
  /** Those without which it cannot start. */
  readonly others: readonly string[];
  readonly settings: SecretsSettings;
};

const none: NeededSecrets = { keys: [], others: [], settings: {} };

/** A text without this has no reference to a secret, and is not parsed. */
const mayRefer = /\$\{[A-Za-z][A-Za-z0-9-]*:(?!-)/;

const isSettings = checkWithoutCompiling(secretsSchema);

/**
 * Finds the secrets of a configuration. `readConfig` reports whatever is wrong with it, with the position.
 */
export function findSecrets(text: string, variable: (name: string) => string | undefined): NeededSecrets {
  if (!mayRefer.test(text)) return none;
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: false });
  if (document.errors.length > 0) return none;
  const keys = new Set<string>();
  const others = new Set<string>();
  visit(document, {
    Scalar: (key, node, ancestors) => {
      if (key === 'key' || typeof node.value !== 'string') return;
      const { value } = node;
      replaceReferences(value, ({ escaped, secret }, whole) => {
        if (escaped !== undefined || secret === undefined) return whole;
        const mayBeMissing = value === whole && isUpstreamKey(pathOfVisited(ancestors, key));
        (mayBeMissing ? keys : others).add(secret);
        return whole;
      });
    },
  });
  const settings = document.get('secrets', true);
  if (settings === undefined) return { keys: [...keys], others: [...others], settings: {} };
  resolveReferences(document, { variable }, () => {});
  const { secrets } = (document.toJS() ?? {}) as { readonly secrets?: unknown };
  return { keys: [...keys], others: [...others], settings: isSettings(secrets) ? secrets : {} };
}
