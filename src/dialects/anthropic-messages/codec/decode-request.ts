import { GatewayError } from '../../../inference/gateway-error.ts';
import type {
  InferenceRequest,
  OutputFormat,
  ReasoningEffort,
  ReasoningRequest,
  Sampling,
  TextPart,
} from '../../../inference/inference-request.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { WireRequest } from '../../wire-request.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { ownDialect } from './own-dialect.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeVendorFields } from './decode-vendor-fields.ts';

/**
 * Reads a validated Messages or count-tokens request.
 * @throws GatewayError for objects that exist only at the vendor, and for a request that only warms its cache
 */
export function decodeRequest({ operation, body }: WireRequest): InferenceRequest {
  const { model, stream, max_tokens: outputTokensMax, stop_sequences: stopSequences, metadata } = body;
  if (outputTokensMax === 0) {
    throw new GatewayError(
      'untranslatable_field',
      'max_tokens: 0 only warms the cache of the interface’s own vendor; ask for at least one',
      {
        param: 'max_tokens',
      },
    );
  }
  const vendorFields = decodeVendorFields(body);
  const outputFormat = decodeOutputFormat(body);
  const reasoning = decodeReasoningRequest(body);
  const endUser = isJsonObject(metadata) ? metadata.user_id : undefined;
  return {
    dialect: ownDialect,
    model: textOf(model) ?? '',
    stream: operation === 'generate' && stream === true,
    instructions: decodeSystem(body.system),
    turns: decodeMessages(body.messages),
    tools: decodeTools(body.tools),
    ...decodeToolChoice(body.tool_choice, body.tools),
    ...(typeof outputTokensMax === 'number' ? { outputTokensMax } : {}),
    ...(Array.isArray(stopSequences) && stopSequences.length > 0 ? { stopSequences: stopSequences.map(String) } : {}),
    ...(outputFormat === undefined ? {} : { outputFormat }),
    sampling: decodeSampling(body),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(typeof endUser === 'string' && endUser !== '' ? { endUser } : {}),
    ...decodeServiceTier(body.service_tier),
    vendorFields,
  };
}

function decodeSystem(system: JsonValue | undefined): readonly TextPart[] {
  if (typeof system === 'string') return system === '' ? [] : [{ kind: 'text', text: system, path: 'system' }];
  if (!Array.isArray(system)) return [];
  return system.flatMap((block: JsonValue, index) =>
    isJsonObject(block) && typeof block.text === 'string' ? [{ kind: 'text' as const, text: block.text, path: `system.${index}` }] : [],
  );
}

function decodeSampling({ temperature, top_p: topP, top_k: topK }: JsonObject): Sampling {
  return {
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof topP === 'number' ? { topP } : {}),
    ...(typeof topK === 'number' ? { topK } : {}),
  };
}

function decodeServiceTier(tier: JsonValue | undefined): Pick<InferenceRequest, 'serviceTier'> {
  if (tier === 'auto') return { serviceTier: 'auto' };
  return tier === 'standard_only' ? { serviceTier: 'default' } : {};
}

/** Reads the format from `output_config`; an earlier beta had it at the top. */
function decodeOutputFormat({ output_config: output, output_format: earlier }: JsonObject): OutputFormat | undefined {
  const format = isJsonObject(output) && isJsonObject(output.format) ? output.format : earlier;
  if (!isJsonObject(format) || !isJsonObject(format.schema)) return undefined;
  return { kind: 'json-schema', schema: format.schema };
}

const efforts = new Set<unknown>(['low', 'medium', 'high', 'xhigh', 'max']);

const isEffort = (value: unknown): value is ReasoningEffort => efforts.has(value);

function decodeReasoningRequest({ thinking, output_config: output }: JsonObject): ReasoningRequest | undefined {
  const effort = isJsonObject(output) && isEffort(output.effort) ? { effort: output.effort } : {};
  if (!isJsonObject(thinking)) return 'effort' in effort ? { mode: 'auto', ...effort } : undefined;
  if (thinking.type === 'disabled') return { mode: 'off' };
  const { budget_tokens: budgetTokens, display } = thinking;
  return {
    mode: thinking.type === 'enabled' ? 'on' : 'auto',
    ...effort,
    ...(thinking.type === 'enabled' && typeof budgetTokens === 'number' ? { budgetTokens } : {}),
    // Clients that turn thinking on want to see it, unless they say otherwise.
    visible: display !== 'omitted',
    // Thinking in this dialect always has its signature.
    wantsProofs: true,
  };
}
