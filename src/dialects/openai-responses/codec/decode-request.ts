import { GatewayError } from '../../../inference/gateway-error.ts';
import type {
  InferenceRequest,
  OutputFormat,
  ReasoningEffort,
  ReasoningRequest,
  Sampling,
  ServiceTier,
  TextPart,
  VendorField,
} from '../../../inference/inference-request.ts';
import { filledText, membersOf, textOf, textsOf, wordOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import type { WireRequest } from '../../wire-request.ts';
import { isSaid, listUnread } from '../../list-unread.ts';
import { openaiHintFields } from '../../openai-hint-fields.ts';
import { compactionOf, compactionPrompt, withoutTrigger } from '../compaction.ts';
import { decodeInput } from './decode-input.ts';
import { decodeLogprobsRequest, logprobsInclude } from './logprobs.ts';
import { readItemFields } from './read-item-fields.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { ownDialect } from './own-dialect.ts';

/** Fields that the gateway handles itself; upstreams never receive them. */
const gatewayFields = ['store', 'previous_response_id', 'conversation', 'background', 'truncation'];

/** Fields that have a neutral name, that the gateway handles, or that are refused. */
const readFields = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'stream',
  'temperature',
  'top_p',
  'text',
  'reasoning',
  'include',
  'service_tier',
  'user',
  'prompt',
  'stream_options',
  ...gatewayFields,
]);

const hintFields = new Set(openaiHintFields);

/** Values without effect, because they are the vendor's defaults. */
const defaults: Readonly<Record<string, JsonValue>> = { top_logprobs: 0 };

const isAbsent = (value: JsonValue | undefined): value is null | undefined => value === undefined || value === null;

/** A prompt template is stored at one vendor, and its text is unknown elsewhere. */
function refusePrompt({ prompt }: JsonObject): void {
  if (isAbsent(prompt)) return;
  const advice = 'send the text of the prompt in instructions and input';
  throw new GatewayError('untranslatable_field', `prompt: this template is stored at one vendor; ${advice}.`, { param: 'prompt' });
}

function readOtherFields(body: JsonObject): readonly VendorField[] {
  const fields = listUnread(body, '', readFields, hintFields).filter(
    ({ field, value }) => !(Object.hasOwn(defaults, field) && defaults[field] === value),
  );
  // The gateway stores it with the response and returns it in the reply.
  return fields.map((field) => (field.field === 'metadata' ? { ...field, weight: 'harmless' } : field));
}

/** Members of settings objects that are not read. */
function readInnerFields({ text, reasoning, stream_options: streaming }: JsonObject): readonly VendorField[] {
  const { format, verbosity } = membersOf(text);
  const { effort, summary, generate_summary: older } = membersOf(reasoning);
  const others: readonly (readonly [field: string, value: JsonValue | undefined, allowed: readonly string[]])[] = [
    ['text.verbosity', verbosity, verbosityWords],
    ['reasoning.effort', effort, effortWords],
    ['reasoning.summary', summary, summaryWords],
    ['reasoning.generate_summary', older, summaryWords],
  ];
  return [
    ...listUnread(text, 'text', new Set(['format', 'verbosity'])),
    ...listUnread(format, 'text.format', new Set(['type', 'name', 'schema', 'description', 'strict'])),
    ...listUnread(streaming, 'stream_options', new Set(), new Set(['include_obfuscation'])),
    ...others.flatMap(([field, value, allowed]): readonly VendorField[] =>
      isSaid(value) && wordOf(value, allowed) === undefined ? [{ field, value, weight: 'matters' }] : [],
    ),
  ];
}

/** Values of `include`. Most of the data is in every reply that has it; probabilities are there only on request. */
function readIncludeFields(include: readonly string[]): readonly VendorField[] {
  return include.includes(logprobsInclude) ? [{ field: 'include', value: logprobsInclude, weight: 'matters' }] : [];
}

const effortWords: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const summaryWords = ['auto', 'concise', 'detailed'] as const;
const verbosityWords = ['low', 'medium', 'high'] as const;

function decodeReasoning(value: JsonValue | undefined, wantsProofs: boolean): ReasoningRequest | undefined {
  if (!isJsonObject(value)) return wantsProofs ? { mode: 'auto', wantsProofs } : undefined;
  const effort = effortWords.find((word) => word === value.effort);
  const summary = summaryWords.find((word) => word === (value.summary ?? value.generate_summary));
  const proofs = wantsProofs ? { wantsProofs } : {};
  if (effort === 'none') return { mode: 'off', effort, ...proofs };
  if (effort === undefined && summary === undefined && !wantsProofs) return undefined;
  return {
    mode: effort === undefined ? 'auto' : 'on',
    ...(effort === undefined ? {} : { effort }),
    ...(summary === undefined ? {} : { visible: true, summary }),
    ...proofs,
  };
}

function readReasoningFields(value: JsonValue | undefined): readonly VendorField[] {
  const fields = listUnread(value, 'reasoning', new Set(['effort', 'summary', 'generate_summary']));
  return fields.filter(({ field, value: context }) => !(field === 'reasoning.context' && context === 'auto'));
}

function decodeOutputFormat(value: JsonValue | undefined): OutputFormat | undefined {
  const format = membersOf(value);
  if (format.type === 'json_object') return { kind: 'json', isObject: true };
  if (format.type !== 'json_schema' || !isJsonObject(format.schema)) return undefined;
  const name = filledText(format.name);
  const description = filledText(format.description);
  return {
    kind: 'json-schema',
    schema: format.schema,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(typeof format.strict === 'boolean' ? { strict: format.strict } : {}),
  };
}

function decodeSampling(body: JsonObject): Sampling {
  const { temperature, top_p: topP } = body;
  return { ...(typeof temperature === 'number' && { temperature }), ...(typeof topP === 'number' && { topP }) };
}

const tierWords: readonly ServiceTier[] = ['auto', 'default', 'flex', 'priority'];

function decodeServiceTier(value: JsonValue | undefined): { readonly tier?: ServiceTier; readonly fields: readonly VendorField[] } {
  const tier = tierWords.find((word) => word === value);
  if (tier !== undefined) return { tier, fields: [] };
  return { fields: isAbsent(value) ? [] : [{ field: 'service_tier', value, weight: 'matters' }] };
}

function decodeInstructions(value: JsonValue | undefined): readonly TextPart[] {
  const text = filledText(value);
  return text === undefined ? [] : [{ kind: 'text', text, path: 'instructions' }];
}

/** The settings beside the conversation; absent ones are omitted. */
function decodeSettings(body: JsonObject): Partial<InferenceRequest> {
  const text = membersOf(body.text);
  const outputFormat = decodeOutputFormat(text.format);
  const reasoning = decodeReasoning(body.reasoning, textsOf(body.include).includes('reasoning.encrypted_content'));
  const endUser = filledText(body.user) ?? filledText(body.safety_identifier);
  const verbosity = verbosityWords.find((word) => word === text.verbosity);
  const { tier } = decodeServiceTier(body.service_tier);
  const tokenLogprobs = decodeLogprobsRequest(body);
  return {
    ...(typeof body.parallel_tool_calls === 'boolean' && { parallelToolCalls: body.parallel_tool_calls }),
    ...(typeof body.max_output_tokens === 'number' && { outputTokensMax: body.max_output_tokens }),
    ...(outputFormat === undefined ? {} : { outputFormat }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(endUser === undefined ? {} : { endUser }),
    ...(tier === undefined ? {} : { serviceTier: tier }),
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(tokenLogprobs === undefined ? {} : { tokenLogprobs }),
  };
}

/**
 * Reads a validated request into the neutral form.
 *
 * @throws GatewayError untranslatable_field for objects that the vendor stores: unresolved item references, prompts,
 * containers
 */
export function decodeRequest({ operation, body }: WireRequest): InferenceRequest {
  const read = readRequest(operation === 'generate' ? body : { ...body, stream: false });
  return compactionOf({ operation, body }) === undefined ? read : askForSummary(read);
}

/**
 * The conversation with a request for its summary at the end. Its functions stay, because the earlier calls and the
 * prompt cache depend on them, but none may be called.
 */
function askForSummary({
  outputFormat: _format,
  verbosity: _verbosity,
  toolChoice: _choice,
  tokenLogprobs: _likely,
  ...request
}: InferenceRequest): InferenceRequest {
  const tools = request.tools.filter(({ kind }) => kind === 'function');
  return {
    ...request,
    turns: [...request.turns, { role: 'user', parts: [{ kind: 'text', text: compactionPrompt }] }],
    tools,
    ...(tools.length > 0 && { toolChoice: { kind: 'none' } }),
    vendorFields: [],
  };
}

function readRequest(body: JsonObject): InferenceRequest {
  refusePrompt(body);
  const { instructions, turns } = decodeInput(withoutTrigger(body.input));
  const { tools, fields: toolFields } = decodeTools(body.tools);
  const { choice, fields: choiceFields } = decodeToolChoice(body.tool_choice);
  return {
    dialect: ownDialect,
    model: textOf(body.model) ?? '',
    stream: body.stream === true,
    instructions: [...decodeInstructions(body.instructions), ...instructions],
    turns,
    tools,
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...decodeSettings(body),
    sampling: decodeSampling(body),
    vendorFields: [
      ...readOtherFields(body),
      ...readIncludeFields(textsOf(body.include)),
      ...readReasoningFields(body.reasoning),
      ...readInnerFields(body),
      ...readItemFields(body.input),
      ...decodeServiceTier(body.service_tier).fields,
      ...toolFields,
      ...choiceFields,
    ],
  };
}
