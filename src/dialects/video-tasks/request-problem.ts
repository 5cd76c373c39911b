import { GatewayError } from '../../inference/gateway-error.ts';
import { abbreviateText } from '../../platform/json/abbreviate-text.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';

/** A value in an error message: itself in short, or its kind. */
export function showValue(value: JsonValue): string {
  if (typeof value === 'string') return `'${abbreviateText(value)}'`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : abbreviateText(String(value));
}

/** A field whose value is wrong: "duration must be a whole number of seconds from 1 to 15, but got 16." */
export const wrongValue = (path: string, expected: string, actual: string): GatewayError =>
  new GatewayError('invalid_value', `${path} ${expected}, but got ${actual}.`, { param: path });

/** A picture or video that cannot be used. What came is not repeated: it may be long, and it is what was said. */
export const wrongMedia = (path: string, problem: string): GatewayError =>
  new GatewayError('invalid_media', `${path} ${problem}.`, { param: path });

export const missingField = (path: string): GatewayError =>
  new GatewayError('missing_required_field', `${path} is required.`, { param: path });

/** What the upstream of a model has no way to say. */
export const untranslatable = (param: string, message: string): GatewayError =>
  new GatewayError('untranslatable_field', message, { param });
