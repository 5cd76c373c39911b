import { type Document, isAlias, isMap, parseDocument, visit } from 'yaml';

import type { LayerDocument } from '../../control/layers/config-layer.ts';
import { listSecrets, putSecret } from '../../control/layers/layer-secrets.ts';
import { pathOfVisited } from '../../platform/yaml/yaml-position.ts';
import { isSecretReference } from '../../upstreams/credentials/secrets/secret-reference.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import type { Config } from './config-schema.ts';
import { withoutPassword } from './describe-values.ts';
import { isSecretPath } from './secret-paths.ts';

type ExportOptions = {
  /** The vendors whose keys are in the environment: upstreams in a file end their use, so the file names them. */
  readonly environmentUpstreams: NonNullable<Config['upstreams']>;
  /** Secrets of the file and the layer stay; otherwise they become names of variables, and comments are left out. */
  readonly withSecrets: boolean;
};

/** An address that nothing answers, in the form that the schemas of addresses want. */
const absentHost = 'not-exported.invalid';

/**
 * One weir.yaml with a file and a layer below it. The file comes first, name by name.
 * @param text the text of a valid file
 * @param layer with its secrets if they are exported
 */
export function exportConfigFile(
  text: string,
  layer: { readonly number: number; readonly document: LayerDocument } | undefined,
  { environmentUpstreams, withSecrets }: ExportOptions,
): string {
  const document = parseDocument(text);
  const names = new Set<string>();
  if (!withSecrets) maskFile(document, names);
  if (layer !== undefined) {
    if (hasNone(document, 'upstreams') && Object.keys(layer.document.upstreams ?? {}).length > 0)
      addVendors(document, environmentUpstreams);
    addLayer(document, withSecrets ? layer.document : maskLayer(layer.document, names));
  }
  const title = layer === undefined ? ' weir.yaml' : ` weir.yaml with layer ${layer.number}, which it overrides`;
  if (document.contents === null) return `#${title}\n`;
  document.commentBefore = [title, document.commentBefore ?? []].flat().join('\n');
  return document.toString({ lineWidth: 0 });
}

const hasNone = (document: Document, part: string): boolean => {
  const node = document.get(part);
  return !isMap(node) || node.items.length === 0;
};

function addVendors(document: Document, upstreams: NonNullable<Config['upstreams']>): void {
  for (const [name, { vendor }] of Object.entries(upstreams))
    document.setIn(['upstreams', name], document.createNode({ vendor, apiKey: `\${${upstreamVendors[vendor].keyVariables[0]}}` }));
}

/** Adds what the file does not have. A layer never refers to the environment. */
function addLayer(document: Document, { upstreams = {}, models = {}, limits }: LayerDocument): void {
  const add = (path: readonly string[], members: object): void => {
    for (const [name, value] of Object.entries(members)) {
      if (document.hasIn([...path, name])) continue;
      const above = document.getIn(path);
      // An empty section, such as `models:`, has no members to add to.
      if (!isMap(above)) document.setIn(path, document.createNode({}));
      document.setIn([...path, name], document.createNode(value));
    }
  };
  add(['upstreams'], upstreams);
  add(['models'], models);
  if (limits?.perKey === undefined) return;
  if (!isMap(document.get('limits'))) document.set('limits', document.createNode({}));
  add(['limits', 'perKey'], limits.perKey);
}

/** The name of the variable for a secret: upper case, and different for each. */
function nameVariable(path: readonly (string | number)[], names: Set<string>): string {
  const stem = path
    .join('_')
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();
  let name = `WEIR_${stem}`;
  for (let more = 2; names.has(name); more += 1) name = `WEIR_${stem}_${more}`;
  names.add(name);
  return name;
}

function maskLayer(document: LayerDocument, names: Set<string>): LayerDocument {
  return listSecrets(document).reduce((masked, { path }) => putSecret(masked, path, referTo(nameVariable(path, names), '')), document);
}

/** Whether a value is the name of a variable or of a secret, and nothing else. */
function isWholeReference(value: string): boolean {
  const name = /^\$\{([^}]*)\}$/.exec(value)?.[1];
  return name !== undefined && (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || isSecretReference(name));
}

/** Replaces the secrets of a file that are not names of variables already. A comment could contain one, too. */
function maskFile(document: Document, names: Set<string>): void {
  document.commentBefore = null;
  document.comment = null;
  visit(document, {
    Node: (_key, node) => {
      node.commentBefore = null;
      node.comment = null;
    },
    Scalar: (key, node, ancestors) => {
      node.commentBefore = null;
      node.comment = null;
      if (key === 'key' || isAlias(node) || typeof node.value !== 'string') return;
      const path = pathOfVisited(ancestors, key);
      if (!isSecretPath(path)) node.value = withoutPassword(node.value);
      else if (!isWholeReference(node.value)) node.value = referTo(nameVariable(path, names), node.value);
    },
  });
}

/**
 * A reference to a variable. Without the variable its value fits the schema of the secret, differs from others, and
 * leads nowhere.
 */
function referTo(name: string, secret: string): string {
  const scheme = /^([a-z]+):\/\//.exec(secret)?.[1];
  return `\${${name}:-${scheme === undefined ? `${name} is not set` : `${scheme}://${absentHost}/`}}`;
}
