import type { InferenceRequest, Sampling } from '../../../inference/inference-request.ts';
import { noteLostContent, type MissingCapabilities } from '../../../inference/note-lost-content.ts';
import { withoutLogprobFields } from '../../../inference/token-logprobs.ts';
import { fitToolNames, listToolNames } from '../../../inference/tool-names.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { EncodedRequest, RequestFit } from '../../chat-codec.ts';
import { reasoningFields } from './decode-reasoning-request.ts';
import { encodeMessages, isSpeakerName, type MessageFit } from './encode-messages.ts';
import { encodeOutputFormat, nameRules } from './encode-output-format.ts';
import { encodeReasoningRequest } from './encode-reasoning-request.ts';
import { encodeTools } from './encode-tools.ts';
import { encodeLogprobs } from './logprobs.ts';
import { member } from './member.ts';
import { isOwn, restoreOwnFields } from './own-fields.ts';

/** The vendor's limit of stop sequences. */
const stopSequencesMax = 4;

/** Writes a request for a server of this dialect, within the limits of its traits. */
export function encodeRequest(request: InferenceRequest, fit: RequestFit): EncodedRequest {
  const ownFields = restoreOwnFields(withoutLogprobFields(request), fit.notes);
  noteLostContent(request, missingCapabilities(fit), fit.notes);
  const names = fitToolNames(listToolNames(request), nameRules);
  const messageFit: MessageFit = { ...fit, toWireName: names.toWireName, isOwn: isOwn(request) };
  const format = encodeOutputFormat(request, fit);
  const stop = encodeStopSequences(request, fit);
  const body: JsonObject = {
    // Members that the gateway writes override those of the client.
    ...ownFields,
    model: fit.upstreamModel,
    messages: encodeMessages(request, messageFit, format.hint),
    ...encodeTools(request, messageFit),
    ...format.members,
    ...encodeOutputLimit(request, fit),
    ...(reasoningFields.some((field) => ownFields[field] !== undefined) ? {} : encodeReasoningRequest(request, fit)),
    ...encodeSampling(request.sampling, fit),
    ...encodeLogprobs(request, fit, format.answerTool !== undefined || stop.cutAt.length > 0),
    ...stop.members,
    ...member('user', request.endUser),
    // `auto` is the default, and few servers accept the field.
    ...(request.serviceTier === 'auto' ? {} : member('service_tier', request.serviceTier)),
    ...(request.verbosity === 'medium' ? {} : member('verbosity', request.verbosity)),
    ...encodeStream(request, fit),
  };
  return {
    body,
    ...(names.renamed.size === 0 ? {} : { toolNames: names.renamed }),
    ...(format.answerTool === undefined ? {} : { answerTool: format.answerTool }),
    ...(stop.cutAt.length === 0 ? {} : { cutAt: stop.cutAt }),
  };
}

/**
 * The parts of a request that this dialect cannot express. Reasoning is sent to servers that accept it, and entries
 * with proofs to their origin.
 */
function missingCapabilities({ traits, proofOrigin }: RequestFit): MissingCapabilities {
  const { reasoningHistoryField } = traits.chat;
  return {
    proofOrigin,
    acceptsName: isSpeakerName,
    mediaNames: true,
    citations: 'all',
    takesReasoning: ({ proof }) =>
      (proof === undefined || proof.origin === proofOrigin) && (reasoningHistoryField !== undefined || (proof?.blob ?? '') !== ''),
  };
}

function encodeOutputLimit({ outputTokensMax }: InferenceRequest, { traits, notes }: RequestFit): JsonObject {
  if (outputTokensMax === undefined) return {};
  const limit = Math.min(outputTokensMax, traits.outputTokensMax ?? outputTokensMax);
  if (limit < outputTokensMax) notes.adapted('outputTokensMax', `this model writes at most ${limit} tokens`);
  return { [traits.chat.outputLimitField]: limit };
}

function encodeStopSequences(
  { stopSequences = [] }: InferenceRequest,
  { traits, notes }: RequestFit,
): { members: JsonObject; cutAt: readonly string[] } {
  const sequences = stopSequences.filter((sequence) => sequence !== '');
  // Models with fixed sampling refuse the field as well (reference of chat completions: "not supported with latest
  // reasoning models").
  const sent = traits.fixedSampling ? [] : sequences.slice(0, stopSequencesMax);
  const cutAt = sequences.slice(sent.length);
  if (cutAt.length > 0)
    notes.emulated('stopSequences', 'the gateway cuts the reply at the stop sequences that the upstream does not accept');
  return { members: sent.length === 0 ? {} : { stop: sent }, cutAt };
}

type SamplingField = { readonly name: keyof Sampling; readonly wire: string; readonly usual: number };

/** Fields that models with fixed sampling refuse, with the value that has no effect. */
const fixedFields: readonly SamplingField[] = [
  { name: 'temperature', wire: 'temperature', usual: 1 },
  { name: 'topP', wire: 'top_p', usual: 1 },
  { name: 'presencePenalty', wire: 'presence_penalty', usual: 0 },
  { name: 'frequencyPenalty', wire: 'frequency_penalty', usual: 0 },
];

function encodeSampling(sampling: Sampling, { traits, notes }: RequestFit): JsonObject {
  const members: Record<string, number> = {};
  for (const { name, wire, usual } of fixedFields) {
    const value = sampling[name];
    if (value === undefined) continue;
    if (!traits.fixedSampling) members[wire] = value;
    else if (value !== usual) notes.dropped(name, 'this model refuses it');
  }
  const { topK, seed } = sampling;
  if (topK !== undefined && !traits.chat.acceptsTopK) notes.dropped('topK', 'the upstream of this model does not have it');
  return { ...members, ...(traits.chat.acceptsTopK ? member('top_k', topK) : {}), ...member('seed', seed) };
}

/** Without the option the vendor reports no usage of a stream. */
function encodeStream({ stream }: InferenceRequest, { traits }: RequestFit): JsonObject {
  if (!stream) return {};
  return { stream: true, ...(traits.chat.streamOptions && { stream_options: { include_usage: true } }) };
}
