import { arrangeTurns } from '../../../inference/arrange-turns.ts';
import { fitCallId, fitCallIdToNine } from '../../../inference/call-ids.ts';
import { codeAsText, codeAsTextReason } from '../../../inference/code-as-text.ts';
import type { InferenceRequest, MediaPart, Part, ReasoningPart, ToolResultPart, Turn } from '../../../inference/inference-request.ts';
import { readToolArguments } from '../../../inference/tool-arguments.ts';
import { resultText } from '../../../inference/tool-results.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { encodeUserContent, joinSystemText, refuseVendorPart, splitResult } from './encode-content.ts';
import { restoreDetail, restoreThoughtSignature } from './reasoning-details.ts';

export type MessageFit = RequestFit & {
  readonly toWireName: (name: string) => string;
  /** Whether the request was read from this dialect. */
  readonly isOwn: boolean;
};

const callIdRules = { pattern: /^[\x21-\x7e]+$/, charactersMax: 64 };

const fitId = (id: string, { traits }: MessageFit): string =>
  traits.chat.callIds === 'nine-alphanumerics' ? fitCallIdToNine(id) : fitCallId(id, callIdRules);

/** The vendor's rule for names of speakers. */
const speakerName = /^[^\s<|\\/>]{1,64}$/;

export const isSpeakerName = (name: string): boolean => speakerName.test(name);

const nameOf = ({ name }: Turn): JsonObject => (name !== undefined && isSpeakerName(name) ? { name } : {});

/**
 * Writes the conversation. Leading system text becomes one message, because the templates of many models accept only
 * one.
 * @param hint system text of the gateway that follows the client's
 */
export function encodeMessages(request: InferenceRequest, fit: MessageFit, hint: string | undefined): readonly JsonObject[] {
  const turns = arrangeTurns(request.turns, { alternate: false, startsWithUser: false, systemTurns: 'keep' }, fit.notes);
  refusePrefill(turns, fit);
  const system = joinSystemText(
    [...request.instructions, ...(hint === undefined ? [] : [{ kind: 'text', text: hint } as const])],
    fit.notes,
  );
  return [
    ...(system === undefined ? [] : [{ role: fit.traits.chat.systemRole, content: system }]),
    ...turns.flatMap((turn) => encodeTurn(turn, fit)),
  ];
}

function refusePrefill(turns: readonly Turn[], { traits, notes }: MessageFit): void {
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || traits.prefill) return;
  const reason = 'the upstream of this model cannot continue a reply that has begun; end the conversation with a user turn';
  notes.refuse({ path: last.parts.at(-1)?.path, otherwise: 'turns' }, reason);
}

function encodeTurn(turn: Turn, fit: MessageFit): readonly JsonObject[] {
  switch (turn.role) {
    case 'system': {
      const content = joinSystemText(turn.parts, fit.notes);
      return content === undefined ? [] : [{ role: fit.traits.chat.systemRole, content, ...nameOf(turn) }];
    }
    case 'user':
      return encodeUserTurn(turn, fit);
    case 'assistant':
      return encodeAssistantTurn(turn, fit);
  }
}

function encodeUserTurn(turn: Turn, fit: MessageFit): readonly JsonObject[] {
  const results = turn.parts.filter((part): part is ToolResultPart => part.kind === 'tool-result');
  const content = turn.parts.filter((part) => part.kind !== 'tool-result');
  const shown = results.flatMap((result) => showMedia(result, fit));
  const encoded = encodeUserContent([...shown, ...content], fit);
  return [
    ...results.map((result) => encodeResult(result, fit)),
    ...(encoded === undefined ? [] : [{ role: 'user', content: encoded, ...nameOf(turn) }]),
  ];
}

const describeMedia = (media: readonly MediaPart[]): string => [...new Set(media.map((part) => part.media))].join(' and ');

/**
 * Tool messages contain only text here. So media of a tool follows in the user message, with a text that names its
 * call.
 */
function showMedia(result: ToolResultPart, fit: MessageFit): readonly Part[] {
  const { media } = splitResult(result.content);
  if (media.length === 0) return [];
  fit.notes.adapted({ path: media[0]?.path ?? result.path, otherwise: 'turns' }, 'media of a tool result follows in a user message');
  return [{ kind: 'text', text: `The ${describeMedia(media)} returned by tool call ${fitId(result.callId, fit)}:` }, ...media];
}

function encodeResult(result: ToolResultPart, fit: MessageFit): JsonObject {
  const { media, hasText } = splitResult(result.content);
  const text = hasText || media.length === 0 ? [resultText(result)] : result.isError ? ['Error:'] : [];
  const link = media.length === 0 ? [] : [`(The ${describeMedia(media)} of this result is in the next user message.)`];
  return { role: 'tool', tool_call_id: fitId(result.callId, fit), content: [...text, ...link].join('\n') };
}

function encodeAssistantTurn(turn: Turn, fit: MessageFit): readonly JsonObject[] {
  const { parts } = turn;
  for (const part of parts) {
    if (part.kind === 'vendor' || (part.kind === 'server-tool' && codeAsText(part) === undefined)) refuseVendorPart(part, fit.notes);
    if (part.kind === 'media')
      fit.notes.dropped({ path: part.path, otherwise: 'turns' }, 'media that a model generated cannot be sent to this one');
  }
  const content = joinAnswer(parts, fit);
  const refusal = parts.flatMap((part) => (part.kind === 'refusal' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) => (part.kind === 'tool-call' ? [encodeCall(part, fit)] : []));
  const reasoning = encodeReasoning(parts, calls.length > 0, fit);
  if (content === '' && refusal === '' && calls.length === 0 && Object.keys(reasoning).length === 0) return [];
  return [
    {
      role: 'assistant',
      // Null is permitted only beside calls: servers refuse it in a message without any other content.
      content: content === '' && calls.length > 0 ? null : content,
      ...(refusal === '' ? {} : { refusal }),
      ...reasoning,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...restoreThoughtSignature(parts.findLast((part) => part.kind === 'text')?.proof, fit.proofOrigin),
      ...nameOf(turn),
    },
  ];
}

/** The texts of a turn as one. Text before and after a tool run is in separate paragraphs. */
function joinAnswer(parts: readonly Part[], { notes }: MessageFit): string {
  const paragraphs = [''];
  for (const part of parts) {
    if (part.kind === 'text') paragraphs.push((paragraphs.pop() ?? '') + part.text);
    if (part.kind !== 'server-tool') continue;
    const asText = codeAsText(part);
    if (asText !== undefined) notes.adapted({ path: part.path, otherwise: 'turns' }, codeAsTextReason);
    paragraphs.push(asText?.text ?? '', '');
  }
  return paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
}

function encodeCall(part: Extract<Part, { kind: 'tool-call' }>, fit: MessageFit): JsonObject {
  // Arguments that are not an object would break the template of the server's model, and the vendor refuses them
  // without a location.
  const input = readToolArguments(part, fit.notes);
  const text = part.arguments.trimStart().startsWith('{') ? part.arguments : JSON.stringify(input);
  return {
    id: fitId(part.id, fit),
    type: 'function',
    function: { name: fit.toWireName(part.name), arguments: text },
    ...restoreThoughtSignature(part.proof, fit.proofOrigin),
  };
}

/**
 * Reasoning is sent only to the server that generated it. Reasoning without an origin is sent to servers that accept
 * it.
 */
function encodeReasoning(parts: readonly Part[], hasCalls: boolean, { traits, proofOrigin }: MessageFit): JsonObject {
  const own = parts.filter(
    (part): part is ReasoningPart => part.kind === 'reasoning' && (part.proof === undefined || part.proof.origin === proofOrigin),
  );
  const details = own.map(restoreDetail).filter((entry) => entry !== undefined);
  const field = traits.chat.reasoningHistoryField;
  const text = own.flatMap((part) => part.text).join('\n\n');
  // DeepSeek refuses calls without the member, and accepts an empty one if the reasoning is lost.
  const isNeeded = text !== '' || (hasCalls && field === 'reasoning_content');
  return {
    ...(field === undefined || !isNeeded ? {} : { [field]: text }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  };
}
