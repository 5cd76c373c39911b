import { isRecord } from '../../read-json.ts';
import type { Json, JsonRecord } from '../../simulated-vendor.ts';

const depthMax = 50;

/**
 * The vendor's error for a schema with `strict: true`: every object must be closed by `additionalProperties: false` and
 * every property required. Undefined if it is acceptable.
 */
export function findStrictSchemaFault(schema: JsonRecord): string | undefined {
  if (schema.type !== 'object') {
    return `schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(schema.type ?? 'None')}'.`;
  }
  return inNode(schema, []);
}

function inNode(node: Json | undefined, context: readonly string[]): string | undefined {
  if (!isRecord(node) || context.length > depthMax) return undefined;
  return inObject(node, context) ?? inNested(node, context);
}

function inObject(node: JsonRecord, context: readonly string[]): string | undefined {
  const isObject = node.type === 'object' || (Array.isArray(node.type) && node.type.includes('object'));
  if (!isObject) return undefined;
  const at = `In context=${describeContext(context)}`;
  if (node.additionalProperties !== false) return `${at}, 'additionalProperties' is required to be supplied and to be false.`;
  const required = Array.isArray(node.required) ? node.required : [];
  const absent = Object.keys(isRecord(node.properties) ? node.properties : {}).find((name) => !required.includes(name));
  if (absent === undefined) return undefined;
  return `${at}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${absent}'.`;
}

function inNested(node: JsonRecord, context: readonly string[]): string | undefined {
  for (const keyword of ['properties', '$defs', 'definitions']) {
    const map = node[keyword];
    for (const [name, nested] of Object.entries(isRecord(map) ? map : {})) {
      const fault = inNode(nested, [...context, keyword, name]);
      if (fault !== undefined) return fault;
    }
  }
  for (const [index, nested] of (Array.isArray(node.anyOf) ? node.anyOf : []).entries()) {
    const fault = inNode(nested, [...context, 'anyOf', `${index}`]);
    if (fault !== undefined) return fault;
  }
  return inNode(node.items, [...context, 'items']);
}

/** A path as the vendor prints it, like Python's tuples. */
function describeContext(context: readonly string[]): string {
  const quoted = context.map((part) => `'${part}'`);
  return `(${quoted.join(', ')}${quoted.length === 1 ? ',' : ''})`;
}
