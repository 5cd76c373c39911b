import type { JsonObject } from '../../../platform/json/json-value.ts';

/** An object with this member if it has a value, otherwise `{}`. */
export const member = (name: string, value: JsonObject[string]): JsonObject => (value === undefined ? {} : { [name]: value });
