import { dropVendorFields } from '../../../inference/drop-vendor-fields.ts';
import { describeSchema } from '../../../inference/describe-schema.ts';
import type { InferenceRequest, ReasoningPart, Turn, VendorField } from '../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../inference/model-traits.ts';
import { noteLostContent } from '../../../inference/note-lost-content.ts';
import { isPutBack, OwnMembers, putBackFields } from '../../../inference/own-fields.ts';
import { objectsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { EncodedRequest, RequestFit } from '../../chat-codec.ts';
import { listBetas } from './client-tools.ts';
import { encodeSampling } from './encode-sampling.ts';
import { encodeTools, type EncodedTools } from './encode-tools.ts';
import { encodeMessages } from './encode-messages.ts';
import { fitAnswerSchema, isHeldWhole, isObjectSchema } from './fit-schema.ts';
import { fitThinking, type FittedThinking } from './fit-thinking.ts';
import { ownDialect } from './own-dialect.ts';
import { prepareTurns } from './prepare-turns.ts';

/** The contract's limit; the vendor's is 512. */
const endUserCharactersMax = 256;

/** Fields of a message request that are also fields of a request for a count. */
const countedFields = ['model', 'system', 'messages', 'tools', 'tool_choice', 'thinking', 'output_config'];

/** Writes a Messages request. */
export function encodeRequest(request: InferenceRequest, fit: RequestFit): EncodedRequest {
  const isOwn = request.dialect === ownDialect;
  const own = new OwnMembers(isOwn ? request.vendorFields : []);
  if (!isOwn) noteLosses(request, fit, undefined);
  const tools = encodeTools(request, fit, own);
  const turns = prepareTurns(request.turns, fit, isOwn);
  const thinking = fitThinking(request, fit, { turns, isForced: isForced(tools.choice) });
  const outputConfig = encodeOutputConfig(request, fit, thinking);
  const stop = encodeStopSequences(request, fit);
  const body: JsonObject = {
    model: fit.upstreamModel,
    max_tokens: thinking.outputTokensMax,
    ...encodeSystem(request, fit, own),
    messages: encodeMessages(endWithUser(turns, fit, thinking.isOn), { fit, toWireName: tools.toWireName, isOwn, own }),
    ...(tools.tools.length === 0 ? {} : { tools: tools.tools }),
    ...encodeChoice(tools, thinking, fit),
    ...(thinking.thinking === undefined ? {} : { thinking: thinking.thinking }),
    ...(outputConfig === undefined ? {} : { output_config: outputConfig }),
    ...stop.members,
    ...encodeSampling(request, fit, thinking.isOn),
    ...encodeEndUser(request, fit),
    ...encodeServiceTier(request, fit),
    ...(request.stream ? { stream: true } : {}),
  };
  if (isOwn) noteLosses(request, fit, own);
  const betas = listBetas(tools.tools);
  return {
    body: isOwn ? putBackOwnFields(body, request.vendorFields) : body,
    ...(tools.renamed.size === 0 ? {} : { toolNames: tools.renamed }),
    ...(betas.length === 0 ? {} : { headers: { 'anthropic-beta': betas.join(',') } }),
    ...(tools.answerTool === undefined ? {} : { answerTool: tools.answerTool }),
    ...(stop.cutAt.length === 0 ? {} : { cutAt: stop.cutAt }),
  };
}

/** Whether a field of this dialect returned to its place: in the body, in a tool, or in its block. */
const isRestored = (field: VendorField, own: OwnMembers): boolean =>
  isPutBack(field) || field.field.startsWith('tools.') || own.hasRead(field);

function noteLosses(request: InferenceRequest, fit: RequestFit, own: OwnMembers | undefined): void {
  const { notes, proofOrigin } = fit;
  if (own === undefined) dropVendorFields(request.vendorFields, notes);
  else {
    const lost = request.vendorFields.filter((field) => !isRestored(field, own));
    dropVendorFields(lost, notes, 'a reply that the gateway rewrites cannot carry it');
  }
  const takesReasoning = ({ proof }: ReasoningPart): boolean => proof?.origin === proofOrigin;
  noteLostContent(request, { verbosity: true, imageDetail: true, mediaNames: true, citations: 'all', takesReasoning, proofOrigin }, notes);
}

/** Writes a request for a count: a message request without fields that limit or control the output. */
export function encodeCountRequest(request: InferenceRequest, fit: RequestFit): JsonObject {
  const { body } = encodeRequest(request, fit);
  return Object.fromEntries(Object.entries(body).filter(([field]) => countedFields.includes(field)));
}

const isForced = (choice: JsonObject | undefined): boolean => choice?.type === 'any' || choice?.type === 'tool';

/** A model that always thinks cannot be forced to call a tool, so the choice is left to it. */
function encodeChoice({ choice }: EncodedTools, { isOn }: FittedThinking, { notes }: RequestFit): JsonObject {
  if (choice === undefined) return {};
  if (!isOn || !isForced(choice)) return { tool_choice: choice };
  notes.adapted('toolChoice', 'this model always thinks, and a model that thinks cannot be forced to call a tool; it is left to choose');
  const { name: _name, ...rest } = choice;
  return { tool_choice: { ...rest, type: 'auto' } };
}

/** The vendor's searches among deferred tools are in the list of tools. */
function putBackOwnFields(body: JsonObject, fields: readonly VendorField[]): JsonObject {
  const searches = fields.flatMap(({ field, value }) => (/^tools\.\d+$/.test(field) && isJsonObject(value) ? [value] : []));
  const put = putBackFields(body, fields);
  return searches.length === 0 ? put : { ...put, tools: [...objectsOf(put.tools), ...searches] };
}

function encodeSystem(request: InferenceRequest, fit: RequestFit, own: OwnMembers): JsonObject {
  if (request.instructions.some(({ path }) => own.has(path))) {
    // Blocks with marks for the cache remain blocks.
    const blocks = request.instructions.flatMap(({ text, path }) =>
      text.trim() === '' ? [] : [{ type: 'text', text, ...own.take(path) }],
    );
    const added = encodeJsonHint(request, fit);
    return { system: added === undefined ? blocks : [...blocks, { type: 'text', text: added }] };
  }
  const texts = request.instructions.flatMap(({ text }) => (text.trim() === '' ? [] : [text]));
  const hint = encodeJsonHint(request, fit);
  const system = [...texts, ...(hint === undefined ? [] : [hint])].join('\n\n');
  return system === '' ? {} : { system };
}

/**
 * Requests in text what the vendor has no setting for: JSON without a schema, and a schema that is not of an object if
 * only a tool could replace it.
 */
function encodeJsonHint({ outputFormat }: InferenceRequest, { traits, notes }: RequestFit): string | undefined {
  if (outputFormat === undefined) return undefined;
  const isPlain = outputFormat.kind === 'json';
  if (!isPlain && (traits.structuredOutput || isObjectSchema(outputFormat.schema))) return undefined;
  notes.emulated('outputFormat', 'this model does not guarantee the format; the prompt asks for it');
  const rule = 'and nothing else: no words before or after it, no code fence.';
  return isPlain
    ? `Answer with one JSON object ${rule}`
    : `Answer with JSON of this schema ${rule}\n${JSON.stringify(outputFormat.schema)}`;
}

/**
 * Whether the vendor guarantees the format. It enforces the rules that its grammar supports, and does not guarantee
 * JSON without a schema.
 */
export function holdsFormat({ outputFormat }: InferenceRequest, { structuredOutput }: ModelTraits): boolean {
  if (outputFormat === undefined) return true;
  return outputFormat.kind === 'json-schema' && structuredOutput && isHeldWhole(outputFormat.schema);
}

function encodeOutputConfig(
  { outputFormat }: InferenceRequest,
  { traits, notes }: RequestFit,
  thinking: FittedThinking,
): JsonObject | undefined {
  const effort = thinking.effort === undefined ? {} : { effort: thinking.effort };
  if (outputFormat?.kind !== 'json-schema' || !traits.structuredOutput) return thinking.effort === undefined ? undefined : effort;
  const described = describeSchema(outputFormat);
  const schema = fitAnswerSchema(described);
  if (schema !== described) {
    notes.adapted('outputFormat', 'objects were closed, and rules that the vendor does not enforce are in descriptions');
  }
  return { ...effort, format: { type: 'json_schema', schema } };
}

/** A conversation may end with an assistant turn only if the model continues it. No model does that while it thinks. */
function endWithUser(turns: readonly Turn[], { traits, notes }: RequestFit, thinks: boolean): readonly Turn[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant') return turns;
  if (traits.prefill && !thinks) return [...turns.slice(0, -1), withoutTrailingSpace(last)];
  notes.adapted('turns', 'this model does not continue an assistant turn; the prompt asks for it');
  return [...turns, { role: 'user', parts: [{ kind: 'text', text: 'Continue from where your last message ends.' }] }];
}

/** The vendor refuses a prefill that ends in white space. */
function withoutTrailingSpace(turn: Turn): Turn {
  const last = turn.parts.at(-1);
  if (last?.kind !== 'text' && last?.kind !== 'refusal') return turn;
  return { ...turn, parts: [...turn.parts.slice(0, -1), { ...last, text: last.text.trimEnd() }] };
}

type EncodedStop = { readonly members: JsonObject; readonly cutAt: readonly string[] };

function encodeStopSequences({ stopSequences = [] }: InferenceRequest, { notes }: RequestFit): EncodedStop {
  const sequences = stopSequences.filter((sequence) => sequence !== '');
  const sent = sequences.filter((sequence) => sequence.trim() !== '');
  const cutAt = sequences.filter((sequence) => sequence.trim() === '');
  if (cutAt.length > 0)
    notes.emulated('stopSequences', 'the gateway cuts the reply at white space, which the vendor does not accept as a sequence');
  return { members: sent.length === 0 ? {} : { stop_sequences: sent }, cutAt };
}

function encodeEndUser({ endUser }: InferenceRequest, { notes }: RequestFit): JsonObject {
  if (endUser === undefined || endUser === '') return {};
  if (endUser.length > endUserCharactersMax) notes.adapted('endUser', `cut to ${endUserCharactersMax} characters`);
  return { metadata: { user_id: endUser.slice(0, endUserCharactersMax) } };
}

function encodeServiceTier({ serviceTier }: InferenceRequest, { notes }: RequestFit): JsonObject {
  if (serviceTier === undefined) return {};
  switch (serviceTier) {
    case 'auto':
      return { service_tier: 'auto' };
    case 'default':
      return { service_tier: 'standard_only' };
    case 'priority':
      // The vendor's `auto` uses the priority tier if the account has one.
      return { service_tier: 'auto' };
    case 'flex':
      notes.adapted('serviceTier', 'the vendor does not have this tier; its standard tier is used');
      return { service_tier: 'standard_only' };
  }
}
