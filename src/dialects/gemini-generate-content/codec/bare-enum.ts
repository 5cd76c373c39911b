import { GatewayError } from '../../../inference/gateway-error.ts';
import type { EventStep, InferenceEvent } from '../../../inference/inference-event.ts';
import type { OutputFormat } from '../../../inference/inference-request.ts';
import { objectOf, textsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { toSnakeCase } from '../canonicalize-request.ts';

/** The answer is one of the values of the schema's enum, without quotes. No other interface has such a format. */
export const enumMimeType = 'text/x.enum';

/** Writes the format for other vendors: an object that contains the value. */
export function encodeBareEnum(schema: JsonObject | undefined): OutputFormat {
  const values = textsOf(schema?.enum);
  if (values.length === 0) {
    const param = 'generationConfig.responseSchema';
    throw new GatewayError('invalid_value', `${param}: ${enumMimeType} needs a schema with an enum of texts`, { param });
  }
  const value = { ...(typeof schema?.description === 'string' ? { description: schema.description } : {}), type: 'string', enum: values };
  const wrapped = { type: 'object', properties: { value }, required: ['value'], additionalProperties: false };
  return { kind: 'json-schema', name: 'choice', schema: wrapped };
}

function pick(object: JsonValue | undefined, name: string): JsonValue | undefined {
  return objectOf(object)?.[name] ?? objectOf(object)?.[toSnakeCase(name)];
}

/** Takes the value out of its object. Other texts, of a reply that was cut or refused, are unchanged. */
function readBareEnum(text: string): string {
  try {
    const value = parseJson(text);
    if (typeof value === 'string') return value;
    return isJsonObject(value) && typeof value.value === 'string' ? value.value : text;
  } catch {
    return text;
  }
}

const asItIs: EventStep = (event) => [event];

/** Writes the bare value for a client that requested it; a text is held until it is complete. */
export function bareEnums(request: JsonObject): EventStep {
  if (pick(pick(request, 'generationConfig'), 'responseMimeType') !== enumMimeType) return asItIs;
  const texts = new Map<number, string>();
  return (event): readonly InferenceEvent[] => {
    if (event.type === 'block-started' && event.block.kind === 'text') texts.set(event.index, '');
    const held = 'index' in event ? texts.get(event.index) : undefined;
    if (held === undefined || !('index' in event)) return [event];
    if (event.type === 'delta') {
      texts.set(event.index, held + event.text);
      return [];
    }
    if (event.type !== 'block-ended') return [event];
    texts.delete(event.index);
    return held === '' ? [event] : [{ type: 'delta', index: event.index, text: readBareEnum(held) }, event];
  };
}
