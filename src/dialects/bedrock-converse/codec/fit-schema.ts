import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';

export function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || (type === undefined && isJsonObject(properties));
}

/** The members that every model takes at the top of a schema of arguments. */
const plainMembers = new Set(['type', 'properties', 'required']);

/** Members that do not affect which arguments are right. */
const idleMembers = new Set(['$schema', '$id', '$comment', 'title', 'description', 'additionalProperties']);

type FittedSchema = { readonly schema: JsonObject; readonly lost: readonly string[] };

/**
 * Fits the schema of a function's arguments, which must be of an object.
 * @param takesAll false for models that take only type, properties and required at the top
 */
export function fitInputSchema(parameters: JsonObject, takesAll: boolean): FittedSchema {
  const ofObject = { ...parameters, type: 'object' };
  if (takesAll) return { schema: ofObject, lost: [] };
  const schema: JsonObject = {
    type: 'object',
    properties: isJsonObject(parameters.properties) ? parameters.properties : {},
    ...(Array.isArray(parameters.required) ? { required: parameters.required } : {}),
  };
  return { schema, lost: Object.keys(parameters).filter((name) => !plainMembers.has(name) && !idleMembers.has(name)) };
}
