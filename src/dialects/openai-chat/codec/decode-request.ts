import type { InferenceRequest, OutputFormat, Sampling, ServiceTier, VendorField } from '../../../inference/inference-request.ts';
import { filledText, membersOf, numberOf, objectsOf, textOf, textsOf, wordOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { WireRequest } from '../../wire-request.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeReasoningRequest } from './decode-reasoning-request.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { decodeVendorFields, refuseUntranslatable } from './decode-vendor-fields.ts';
import { decodeLogprobsRequest } from './logprobs.ts';
import { ownDialect } from './own-fields.ts';

const tiers: readonly ServiceTier[] = ['auto', 'default', 'flex', 'priority'];

/**
 * Reads a validated request.
 * @throws GatewayError `untranslatable_field` for several choices, and for objects that are stored at the vendor
 */
export function decodeRequest({ body }: WireRequest): InferenceRequest {
  refuseUntranslatable(body);
  const { instructions, turns } = decodeMessages(objectsOf(body.messages));
  const { reasoning, fields } = decodeReasoningRequest(body);
  const toolChoice = decodeToolChoice(body);
  const outputFormat = decodeOutputFormat(body.response_format);
  const outputTokensMax = numberOf(body.max_completion_tokens) ?? numberOf(body.max_tokens);
  const stopSequences = typeof body.stop === 'string' ? [body.stop] : textsOf(body.stop);
  const endUser = filledText(body.user);
  const tokenLogprobs = decodeLogprobsRequest(body);
  const serviceTier = wordOf(body.service_tier, tiers);
  const verbosity = wordOf(body.verbosity, ['low', 'medium', 'high']);
  const understood = [...fields, ...(serviceTier === undefined ? [] : ['service_tier']), ...(verbosity === undefined ? [] : ['verbosity'])];
  return {
    model: textOf(body.model) ?? '',
    dialect: ownDialect,
    stream: body.stream === true,
    instructions,
    turns,
    tools: decodeTools(body),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(typeof body.parallel_tool_calls === 'boolean' && { parallelToolCalls: body.parallel_tool_calls }),
    ...(outputTokensMax === undefined ? {} : { outputTokensMax }),
    ...(stopSequences.length === 0 ? {} : { stopSequences }),
    ...(outputFormat === undefined ? {} : { outputFormat }),
    sampling: decodeSampling(body),
    ...(tokenLogprobs === undefined ? {} : { tokenLogprobs }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(endUser === undefined ? {} : { endUser }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(verbosity === undefined ? {} : { verbosity }),
    vendorFields: [
      ...decodeVendorFields(body, understood),
      ...decodeOddFormat(body.response_format),
      // A server of this dialect may read more in these fields than the neutral form has.
      ...fields.flatMap((field): readonly VendorField[] => {
        const value = body[field];
        return value === undefined ? [] : [{ field, value, weight: 'harmless' }];
      }),
    ],
  };
}

/** An answer format that only some servers have, such as a grammar. */
function decodeOddFormat(format: JsonValue | undefined): readonly VendorField[] {
  if (!isJsonObject(format) || wordOf(format.type, ['text', 'json_object', 'json_schema']) !== undefined) return [];
  return [{ field: 'response_format', value: format, weight: 'matters' }];
}

function decodeSampling(body: JsonObject): Sampling {
  const fields = {
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    seed: numberOf(body.seed),
    presencePenalty: numberOf(body.presence_penalty),
    frequencyPenalty: numberOf(body.frequency_penalty),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function decodeOutputFormat(format: unknown): OutputFormat | undefined {
  const { type, json_schema: described, schema: bare } = membersOf(format);
  // llama.cpp and others accept a schema beside the type.
  if (type === 'json_object') return isJsonObject(bare) ? { kind: 'json-schema', schema: bare } : { kind: 'json', isObject: true };
  if (type !== 'json_schema') return undefined;
  const { name, description, schema, strict } = membersOf(described);
  const named = filledText(name);
  const explained = filledText(description);
  return {
    kind: 'json-schema',
    ...(named === undefined ? {} : { name: named }),
    ...(explained === undefined ? {} : { description: explained }),
    schema: isJsonObject(schema) ? schema : {},
    ...(typeof strict === 'boolean' && { strict }),
  };
}
