import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Puts a member into an object only where there is a value: `{}` otherwise. */
export const member = (name: string, value: JsonObject[string]): JsonObject => (value === undefined ? {} : { [name]: value });
