import { GatewayError } from '../../../inference/gateway-error.ts';
import type { VendorField } from '../../../inference/inference-request.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { openaiHarmlessFields } from '../../openai-harmless-fields.ts';

/** Fields that have a neutral name. Those of reasoning are known only where their value was understood. */
const namedFields = new Set([
  'model',
  'messages',
  'stream',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'response_format',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'user',
  'web_search_options',
  'n',
]);

/** Fields that mean nothing to another vendor: those of OpenAI's, and those of services and servers, for caching and speed. */
const harmlessFields = new Set([
  ...openaiHarmlessFields,
  'prediction',
  'service_tier',
  'verbosity',
  'cache_control',
  'session_id',
  'usage',
  'reasoning_format',
  'return_progress',
  'timings_per_token',
  'keep_alive',
  'cache_prompt',
  'cache_salt',
  'priority',
  'request_id',
]);

/** Whether a field says what would hold without it too. */
function isDefault(field: string, value: JsonValue): boolean {
  if (value === null || value === false) return true;
  if (field === 'top_logprobs') return value === 0;
  if (field === 'modalities') return Array.isArray(value) && value.every((word) => word === 'text');
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}

/**
 * The fields without a neutral name, as they stand in the request.
 * @param understood further fields that were read into the neutral form
 */
export function decodeVendorFields(body: JsonObject, understood: readonly string[]): readonly VendorField[] {
  return Object.entries(body).flatMap(([field, value]): VendorField[] => {
    if (value === undefined || namedFields.has(field) || understood.includes(field) || isDefault(field, value)) return [];
    return [{ field, value, weight: harmlessFields.has(field) ? 'harmless' : 'matters' }];
  });
}

/** Refuses what no other vendor can do. */
export function refuseUntranslatable(body: JsonObject): void {
  if (typeof body.n === 'number' && body.n > 1) {
    const message =
      'n: the upstream of this model speaks another interface and writes one choice for a call; send the request once for each choice';
    throw new GatewayError('untranslatable_field', message, { param: 'n' });
  }
  const { modalities } = body;
  if (Array.isArray(modalities) && !isDefault('modalities', modalities)) {
    const message = 'modalities: the upstream of this model speaks another interface and answers in text only; ask for ["text"]';
    throw new GatewayError('untranslatable_field', message, { param: 'modalities' });
  }
}
