import { abbreviateText } from '../json/abbreviate-text.ts';

/** The JSON type of a value as problems name it: `integer` for numbers without a fraction, `infinity` for `1e999`. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value !== 'number') return typeof value;
  if (Number.isInteger(value)) return 'integer';
  return Number.isFinite(value) ? 'number' : 'infinity';
}

/**
 * Whether a value has the JSON Schema type `type`, by the rules of TypeBox's compiled check. Unknown type names accept
 * everything, as there.
 */
export function isOfJsonType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'null':
      return value === null;
    case 'boolean':
    case 'string':
    case 'undefined':
      return typeof value === type;
    default:
      return true;
  }
}

/** Shortens a value for an error message: see `SchemaProblem.actual`. */
export function abbreviateValue(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return abbreviateText(value);
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value;
  return jsonTypeOf(value);
}

/** A literal of a schema as `expected` shows it. */
export function showLiteral(value: unknown): string | number {
  return typeof value === 'string' || typeof value === 'number' ? value : (JSON.stringify(value) ?? 'undefined');
}
