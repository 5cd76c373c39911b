import { dropVendorFields } from '../../../inference/drop-vendor-fields.ts';
import type { InferenceRequest, OutputFormat, ReasoningPart, VendorField } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { noteLostContent } from '../../../inference/note-lost-content.ts';
import { isPutBack, OwnMembers, putBackFields } from '../../../inference/own-fields.ts';
import { fitReasoning } from '../../../inference/reasoning-scale.ts';
import { strictOf } from '../../../inference/strict-schema.ts';
import { withoutLogprobFields } from '../../../inference/token-logprobs.ts';
import { fitToolNames, listToolNames } from '../../../inference/tool-names.ts';
import { textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { EncodedRequest, RequestFit } from '../../chat-codec.ts';
import { mentionsJson } from '../../mentions-json.ts';
import { encodeInput } from './encode-input.ts';
import { encodeToolChoice, encodeTools, fitParameters } from './encode-tools.ts';
import { encodeLogprobs } from './logprobs.ts';
import { ownDialect } from './own-dialect.ts';

/** The vendor refuses a lower limit. */
const outputTokensMin = 16;
const nameRules = { pattern: /[\w-]/, charactersMax: 64 };
const answerTool = 'answer';

function encodeOutputLimit(request: InferenceRequest, fit: RequestFit): JsonObject {
  const { outputTokensMax: requested } = request;
  if (requested === undefined) return {};
  const limit = Math.max(outputTokensMin, Math.min(requested, fit.traits.outputTokensMax ?? requested));
  if (limit < requested) fit.notes.adapted('outputTokensMax', `this model writes at most ${limit} tokens`);
  if (limit > requested) fit.notes.adapted('outputTokensMax', `the vendor does not accept a limit below ${outputTokensMin} tokens`);
  return { max_output_tokens: limit };
}

/** Writes temperature and top-p. Reasoning models refuse values other than the defaults. */
function encodeSampling({ sampling }: InferenceRequest, fit: RequestFit): JsonObject {
  const { notes, traits } = fit;
  const noField = 'the interface of this model has no such field';
  if (sampling.topK !== undefined) notes.dropped('topK', noField);
  if (sampling.seed !== undefined) notes.dropped('seed', noField);
  // A penalty of zero has no effect.
  if ((sampling.presencePenalty ?? 0) !== 0) notes.dropped('presencePenalty', noField);
  if ((sampling.frequencyPenalty ?? 0) !== 0) notes.dropped('frequencyPenalty', noField);
  const { temperature, topP } = sampling;
  if (!traits.fixedSampling) {
    return { ...(temperature === undefined ? {} : { temperature }), ...(topP === undefined ? {} : { top_p: topP }) };
  }
  const fixed = 'this model sets it itself and refuses other values';
  if ((temperature ?? 1) !== 1) notes.dropped('temperature', fixed);
  if ((topP ?? 1) !== 1) notes.dropped('topP', fixed);
  return {};
}

type EncodedReasoning = { readonly fields: JsonObject; readonly include: readonly string[] };

function encodeReasoning(request: InferenceRequest, fit: RequestFit): EncodedReasoning {
  const { traits, notes } = fit;
  const requested = request.reasoning;
  const fitted = fitReasoning(requested, traits, notes);
  // A model without reasoning refuses both the field and the include.
  if (traits.reasoning === 'none') return { fields: {}, include: [] };
  if (fitted.kind === 'off') {
    const knowsNone = traits.efforts === undefined || traits.efforts.includes('none');
    return { fields: knowsNone ? { reasoning: { effort: 'none' } } : {}, include: [] };
  }
  const reasoning = {
    ...(fitted.kind === 'effort' ? { effort: fitted.effort } : {}),
    ...(requested?.visible === true ? { summary: requested.summary ?? 'auto' } : {}),
  };
  return { fields: Object.keys(reasoning).length === 0 ? {} : { reasoning }, include: ['reasoning.encrypted_content'] };
}

/** The vendor requires a name of at most 64 letters, digits, underscores and dashes. */
function nameFormat(name: string | undefined): string {
  const fitted = (name ?? '').replace(/[^\w-]/g, '_').slice(0, 64);
  return fitted === '' ? answerTool : fitted;
}

function encodeFormat(format: OutputFormat, request: InferenceRequest): JsonObject {
  if (format.kind === 'json') return { type: 'json_object' };
  const strict = strictOf(format, request);
  return {
    type: 'json_schema',
    name: nameFormat(format.name),
    schema: format.schema,
    ...(format.description === undefined ? {} : { description: format.description }),
    ...(strict === undefined ? {} : { strict }),
  };
}

/** The vendor enforces only a strict schema while the model writes. */
export function holdsFormat(request: InferenceRequest, traits: ModelTraits): boolean {
  const { outputFormat } = request;
  return outputFormat?.kind !== 'json-schema' || (traits.structuredOutput && strictOf(outputFormat, request) === true);
}

function encodeText(request: InferenceRequest, fit: RequestFit): JsonObject {
  const { outputFormat, verbosity } = request;
  const native = outputFormat !== undefined && (outputFormat.kind === 'json' || fit.traits.structuredOutput);
  const text = { ...(native ? { format: encodeFormat(outputFormat, request) } : {}), ...(verbosity === undefined ? {} : { verbosity }) };
  return Object.keys(text).length === 0 ? {} : { text };
}

/** A function that replaces structured output for models without it: its arguments are the answer. */
function createAnswerTool(
  { outputFormat, tools }: InferenceRequest,
  fit: RequestFit,
): { readonly name: string; readonly wire: JsonObject } | undefined {
  if (outputFormat?.kind !== 'json-schema' || fit.traits.structuredOutput) return undefined;
  fit.notes.emulated('outputFormat', 'this model has no structured output; it must call a function with that schema instead');
  const isNameUsed = tools.some((tool) => tool.kind === 'function' && tool.name === answerTool);
  const name = isNameUsed ? `final_${answerTool}` : answerTool;
  const description = outputFormat.description ?? 'Gives the final answer.';
  return { name, wire: { type: 'function', name, description, parameters: fitParameters(outputFormat.schema), strict: false } };
}

/** The vendor refuses JSON mode unless the conversation mentions JSON. */
function encodeInstructions(request: InferenceRequest, fit: RequestFit): JsonObject {
  const texts = request.instructions.map((part) => part.text).filter((text) => text !== '');
  if (request.outputFormat?.kind === 'json' && !mentionsJson(request)) {
    fit.notes.adapted('outputFormat', 'the instructions now ask for JSON: the vendor refuses this format without it');
    texts.push('Answer in JSON.');
  }
  return texts.length === 0 ? {} : { instructions: texts.join('\n\n') };
}

function encodeStopSequences({ stopSequences = [] }: InferenceRequest, fit: RequestFit): Pick<EncodedRequest, 'cutAt'> {
  const cutAt = stopSequences.filter((sequence) => sequence !== '');
  if (cutAt.length === 0) return {};
  fit.notes.emulated('stopSequences', 'the gateway ends the reply there: the interface of this model has no stop sequences');
  return { cutAt };
}

function encodeToolFields(request: InferenceRequest, fit: RequestFit, toWireName: (name: string) => string): EncodedToolFields {
  const isOwn = request.dialect === ownDialect;
  const own = new OwnMembers(isOwn ? request.vendorFields : []);
  const { tools, include, maxToolCalls } = encodeTools(request.tools, { fit, toWireName, isOwn, own });
  const answer = createAnswerTool(request, fit);
  const all = answer === undefined ? tools : [...tools, answer.wire];
  const choice = encodeToolChoice(request.toolChoice, tools, { fit, toWireName, isOwn });
  const forced = tools.length === 0 && answer !== undefined ? { type: 'function', name: answer.name } : 'required';
  const toolChoice = answer === undefined ? choice : forced;
  // The answer tool must be called exactly once.
  const parallel = answer === undefined ? request.parallelToolCalls : false;
  return {
    include,
    ...(answer === undefined ? {} : { answerTool: answer.name }),
    fields: {
      ...(all.length === 0 ? {} : { tools: all }),
      ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
      ...(parallel === undefined || all.length === 0 ? {} : { parallel_tool_calls: parallel }),
      ...(maxToolCalls === undefined ? {} : { max_tool_calls: maxToolCalls }),
    },
  };
}

type EncodedToolFields = { readonly fields: JsonObject; readonly include: readonly string[]; readonly answerTool?: string };

/** Adds the client's `include` values to those that the gateway needs. */
function putBackOwnFields(body: JsonObject, fields: readonly VendorField[]): JsonObject {
  const include = fields.flatMap(({ field, value }) => (field === 'include' && typeof value === 'string' ? [value] : []));
  const others = fields.filter(({ field }) => field !== 'include');
  const required = Array.isArray(body.include) ? textsOf(body.include) : [];
  return putBackFields(include.length === 0 ? body : { ...body, include: [...required, ...include] }, others);
}

/**
 * Fields of this dialect that are written back unchanged. Tools other than plain functions are written back elsewhere.
 */
const isRestored = (field: VendorField, { traits }: RequestFit): boolean =>
  isPutBack(field) ||
  field.field.startsWith('tools[') ||
  (traits.screenTool !== undefined && /\.(?:pending|acknowledged)_safety_checks$/.test(field.field));

function noteLosses(request: InferenceRequest, fit: RequestFit, isOwn: boolean): void {
  const { notes, proofOrigin } = fit;
  const dropped = isOwn ? request.vendorFields.filter((field) => !isRestored(field, fit)) : request.vendorFields;
  dropVendorFields(dropped, notes, isOwn ? 'a reply that the gateway rewrites cannot carry it' : undefined);
  const takesReasoning = ({ proof }: ReasoningPart): boolean => proof?.origin === proofOrigin && proof.blob !== '';
  noteLostContent(request, { mediaNames: true, citations: 'documents', takesReasoning, proofOrigin }, notes);
}

/**
 * Writes a request for an upstream that speaks Responses. Nothing is stored there: each request has the whole
 * conversation, and reasoning is returned encrypted so that the next request can contain it.
 */
export function encodeRequest(request: InferenceRequest, fit: RequestFit): EncodedRequest {
  const isOwn = request.dialect === ownDialect;
  const { vendorFields } = withoutLogprobFields(request);
  noteLosses({ ...request, vendorFields }, fit, isOwn);
  const { toWireName, renamed } = fitToolNames(listToolNames(request), nameRules);
  const tools = encodeToolFields(request, fit, toWireName);
  const reasoning = encodeReasoning(request, fit);
  const stop = encodeStopSequences(request, fit);
  const logprobs = encodeLogprobs(request, fit, tools.answerTool !== undefined || stop.cutAt !== undefined);
  const include = [...reasoning.include, ...tools.include, ...logprobs.include];
  const { endUser, serviceTier } = request;
  const body: JsonObject = {
    model: fit.upstreamModel,
    ...encodeInstructions(request, fit),
    input: encodeInput(request.turns, { fit, toWireName, isOwn }),
    ...tools.fields,
    ...encodeOutputLimit(request, fit),
    ...encodeSampling(request, fit),
    ...reasoning.fields,
    ...logprobs.fields,
    ...encodeText(request, fit),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
    ...(endUser === undefined ? {} : { user: endUser }),
    ...(include.length === 0 ? {} : { include }),
    store: false,
    ...(request.stream ? { stream: true } : {}),
  };
  return {
    body: isOwn ? putBackOwnFields(body, vendorFields) : body,
    ...stop,
    ...(renamed.size === 0 ? {} : { toolNames: renamed }),
    ...(tools.answerTool === undefined ? {} : { answerTool: tools.answerTool }),
  };
}
