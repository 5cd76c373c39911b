import { GatewayError } from '../../inference/gateway-error.ts';
import { abbreviateText } from '../../platform/json/abbreviate-text.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';

/** Shows a value in an error message: a short value itself, otherwise its kind. */
export function showValue(value: JsonValue): string {
  if (typeof value === 'string') return `'${abbreviateText(value)}'`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : abbreviateText(String(value));
}

/** A field with a wrong value: "duration must be a whole number of seconds from 1 to 15, but got 16." */
export const wrongValue = (path: string, expected: string, actual: string): GatewayError =>
  new GatewayError('invalid_value', `${path} ${expected}, but got ${actual}.`, { param: path });

/** An image or video that cannot be used. The message does not repeat the value, which may be long and private. */
export const wrongMedia = (path: string, problem: string): GatewayError =>
  new GatewayError('invalid_media', `${path} ${problem}.`, { param: path });

export const missingField = (path: string): GatewayError =>
  new GatewayError('missing_required_field', `${path} is required.`, { param: path });

/** A field that the upstream of a model cannot express. */
export const untranslatable = (param: string, message: string): GatewayError =>
  new GatewayError('untranslatable_field', message, { param });
