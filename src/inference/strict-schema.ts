import { isJsonObject, type JsonObject, type JsonValue } from '../platform/json/json-value.ts';
import type { InferenceRequest, OutputFormat } from './inference-request.ts';

type SchemaFormat = Extract<OutputFormat, { kind: 'json-schema' }>;

/**
 * The keywords that vendors compile for strict schemas. Source: OpenAI's guide to structured outputs, supported
 * schemas.
 */
const keywords: ReadonlySet<string> = new Set(
  'type properties required additionalProperties items enum const anyOf description title minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern minItems maxItems'.split(
    ' ',
  ),
);

/** Lower than the vendor's own limits. */
const depthMax = 5;
const nodesMax = 100;

/**
 * Whether a schema can be sent as strict unchanged: every object is closed, every property is required, and every
 * keyword is compiled.
 */
function isStrictSchema(schema: JsonObject): boolean {
  let nodes = 0;
  const isStrict = (value: JsonValue | undefined, depth: number): boolean => {
    nodes += 1;
    if (!isJsonObject(value) || depth > depthMax || nodes > nodesMax) return false;
    if (Object.keys(value).some((keyword) => !keywords.has(keyword))) return false;
    const { type, properties = {}, required, additionalProperties, items, anyOf } = value;
    if (type === 'object' && (additionalProperties !== false || !isJsonObject(properties))) return false;
    if (type === 'array' && items === undefined) return false;
    if (type === undefined && anyOf === undefined && value.enum === undefined && value.const === undefined) return false;
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    if (names.length > 0 && type !== 'object') return false;
    if (!names.every((name) => Array.isArray(required) && required.includes(name))) return false;
    const inner = [
      ...names.map((name) => (isJsonObject(properties) ? properties[name] : undefined)),
      ...(items === undefined ? [] : [items]),
      ...(Array.isArray(anyOf) ? (anyOf as readonly JsonValue[]) : []),
    ];
    return inner.every((member) => isStrict(member, depth + 1));
  };
  return schema.type === 'object' && isStrict(schema, 0);
}

/** The interfaces whose clients state whether a schema is strict. In all others it always is. */
const sayThemselves: ReadonlySet<string | undefined> = new Set(['openai-responses', 'openai-chat', undefined]);

/**
 * Decides the value of `strict` for an interface that has this field. The client's value applies if its interface has
 * the field. Otherwise it is `true` if the schema can be compiled unchanged.
 */
export function strictOf({ strict, schema }: SchemaFormat, { dialect }: Pick<InferenceRequest, 'dialect'>): boolean | undefined {
  if (strict !== undefined || sayThemselves.has(dialect)) return strict;
  return isStrictSchema(schema) ? true : undefined;
}
