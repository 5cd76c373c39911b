import type { TSchema } from 'typebox';
import { createRefResolver, isSchemaNode, toSchemaNode } from './schema-node.ts';
import type { ResolveRef } from './schema-node.ts';

const SCHEMA_KEYWORDS = ['not', 'additionalProperties', 'propertyNames', 'items', 'additionalItems'];
const SCHEMA_LIST_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const SCHEMA_MAP_KEYWORDS = ['properties', 'patternProperties', '$defs', 'definitions'];
const OTHER_KEYWORDS = [
  '$id $ref $schema $comment title description default examples readOnly writeOnly deprecated',
  'type const enum required minProperties maxProperties minItems maxItems uniqueItems',
  'minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
].flatMap((line) => line.split(' '));
const KNOWN_KEYWORDS: ReadonlySet<string> = new Set([
  ...SCHEMA_KEYWORDS,
  ...SCHEMA_LIST_KEYWORDS,
  ...SCHEMA_MAP_KEYWORDS,
  ...OTHER_KEYWORDS,
]);

/**
 * Refuses a schema whose failures could not be explained: with an unknown keyword (`if`, `contains`,
 * `unevaluatedProperties`, or a misspelt one), or with a reference to nothing. Also refuses a property that every
 * JavaScript object has, because the compiled check would find it everywhere.
 */
export function assertDescribable(schema: TSchema): void {
  const root = toSchemaNode(schema);
  assertNode(root, '#', createRefResolver(root));
}

function assertNode(node: unknown, place: string, resolve: ResolveRef): void {
  if (!isSchemaNode(node)) return;
  if (node.$ref !== undefined && resolve(node.$ref) === undefined) throw new Error(`schema ${place}: $ref ${node.$ref} leads nowhere`);
  for (const name of [...Object.keys(node.properties ?? {}), ...(node.required ?? [])]) {
    if (name in {} && name !== '__proto__' && name !== 'constructor')
      throw new Error(`schema ${place}: the property ${name} cannot be checked`);
  }
  for (const [keyword, inner] of Object.entries(node)) {
    if (!KNOWN_KEYWORDS.has(keyword) && !keyword.startsWith('~'))
      throw new Error(`schema ${place}: the keyword ${keyword} is not supported`);
    const here = `${place}/${keyword}`;
    if (SCHEMA_LIST_KEYWORDS.includes(keyword) && Array.isArray(inner)) {
      inner.forEach((part, index) => assertNode(part, `${here}/${index}`, resolve));
    } else if (SCHEMA_KEYWORDS.includes(keyword)) {
      assertNode(inner, here, resolve);
    } else if (SCHEMA_MAP_KEYWORDS.includes(keyword)) {
      for (const [name, part] of Object.entries(inner as Readonly<Record<string, unknown>>)) assertNode(part, `${here}/${name}`, resolve);
    }
  }
}
