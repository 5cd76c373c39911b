import type { InferenceRequest } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { membersOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import { encodeSchema } from './encode-schema.ts';

/**
 * Whether the vendor guarantees the format. JSON without a schema may be any value here. Beside functions, models with
 * only one of both get the format in text or as a function. The subset of schemas that some models accept leaves rules
 * out.
 */
export function holdsFormat({ outputFormat, tools }: InferenceRequest, traits: ModelTraits): boolean {
  if (outputFormat === undefined) return true;
  if (!traits.structuredOutput || (!traits.mixesTools && tools.some((tool) => tool.kind === 'function'))) return false;
  if (outputFormat.kind === 'json') return outputFormat.isObject !== true;
  return traits.jsonSchemaTools ? !hasUnheldKeyword(outputFormat.schema) : encodeSchema(outputFormat.schema).lost.length === 0;
}

/**
 * Keywords of JSON Schema that the vendor accepts but does not enforce. Source: the vendor's guide to structured
 * output, "JSON Schema support", which lists the enforced ones.
 */
const unheldKeywords: ReadonlySet<string> = new Set(
  'pattern minLength maxLength multipleOf exclusiveMinimum exclusiveMaximum uniqueItems contains minContains maxContains const not if then else allOf oneOf dependentRequired dependentSchemas patternProperties propertyNames minProperties maxProperties unevaluatedProperties unevaluatedItems'.split(
    ' ',
  ),
);

const schemaMaps: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);

const innerSchemas: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'anyOf', 'prefixItems']);

const isUnheld = (value: unknown): boolean => isJsonObject(value) && hasUnheldKeyword(value);

function hasUnheldKeyword(schema: JsonObject): boolean {
  return Object.entries(schema).some(([name, value]) => {
    if (unheldKeywords.has(name)) return value !== undefined;
    if (schemaMaps.has(name)) return Object.values(membersOf(value)).some(isUnheld);
    return innerSchemas.has(name) && (Array.isArray(value) ? value : [value]).some(isUnheld);
  });
}
