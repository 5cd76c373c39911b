import { arrangeTurns } from '../../../inference/arrange-turns.ts';
import { fitCallId } from '../../../inference/call-ids.ts';
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

const fitId = (id: string): string => fitCallId(id, callIdRules);

/** The vendor's rule for names of speakers. */
const speakerName = /^[^\s<|\\/>]{1,64}$/;

export const isSpeakerName = (name: string): boolean => speakerName.test(name);

const nameOf = ({ name }: Turn): JsonObject => (name !== undefined && isSpeakerName(name) ? { name } : {});

/**
 * Writes the conversation. System text before it becomes one message, for the templates of many models know only one.
 * @param hint system text of our own that follows the client's
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
  const reason = 'the upstream of this model cannot continue a turn that was begun for it; end the conversation with a user turn';
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
  const said = turn.parts.filter((part) => part.kind !== 'tool-result');
  const shown = results.flatMap((result) => showMedia(result, fit));
  const content = encodeUserContent([...shown, ...said], fit);
  return [...results.map(encodeResult), ...(content === undefined ? [] : [{ role: 'user', content, ...nameOf(turn) }])];
}

const describeMedia = (media: readonly MediaPart[]): string => [...new Set(media.map((part) => part.media))].join(' and ');

/** Messages of tools hold text only here, so what a tool showed follows in the user's message, with a word on where it came from. */
function showMedia(result: ToolResultPart, { notes }: MessageFit): readonly Part[] {
  const { media } = splitResult(result.content);
  if (media.length === 0) return [];
  notes.adapted({ path: media[0]?.path ?? result.path, otherwise: 'turns' }, 'what the tool showed follows its result in a user message');
  return [{ kind: 'text', text: `The ${describeMedia(media)} returned by tool call ${fitId(result.callId)}:` }, ...media];
}

function encodeResult(result: ToolResultPart): JsonObject {
  const { media, hasText } = splitResult(result.content);
  const text = hasText || media.length === 0 ? [resultText(result)] : result.isError ? ['Error:'] : [];
  const link = media.length === 0 ? [] : [`(The ${describeMedia(media)} of this result is in the next user message.)`];
  return { role: 'tool', tool_call_id: fitId(result.callId), content: [...text, ...link].join('\n') };
}

function encodeAssistantTurn(turn: Turn, fit: MessageFit): readonly JsonObject[] {
  const { parts } = turn;
  for (const part of parts) {
    if (part.kind === 'vendor' || (part.kind === 'server-tool' && codeAsText(part) === undefined)) refuseVendorPart(part, fit.notes);
    if (part.kind === 'media')
      fit.notes.dropped({ path: part.path, otherwise: 'turns' }, 'media that a model made cannot be shown to this one');
  }
  const content = joinAnswer(parts, fit);
  const refusal = parts.flatMap((part) => (part.kind === 'refusal' ? [part.text] : [])).join('');
  const calls = parts.flatMap((part) => (part.kind === 'tool-call' ? [encodeCall(part, fit)] : []));
  const reasoning = encodeReasoning(parts, calls.length > 0, fit);
  if (content === '' && refusal === '' && calls.length === 0 && Object.keys(reasoning).length === 0) return [];
  return [
    {
      role: 'assistant',
      // Null stands beside calls only: servers refuse it in a message with nothing else that they know.
      content: content === '' && calls.length > 0 ? null : content,
      ...(refusal === '' ? {} : { refusal }),
      ...reasoning,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...restoreThoughtSignature(parts.findLast((part) => part.kind === 'text')?.proof, fit.proofOrigin),
      ...nameOf(turn),
    },
  ];
}

/** The texts of a turn as one; what is said before and after the run of a tool are paragraphs of their own. */
function joinAnswer(parts: readonly Part[], { notes }: MessageFit): string {
  const paragraphs = [''];
  for (const part of parts) {
    if (part.kind === 'text') paragraphs.push((paragraphs.pop() ?? '') + part.text);
    if (part.kind !== 'server-tool') continue;
    const told = codeAsText(part);
    if (told !== undefined) notes.adapted({ path: part.path, otherwise: 'turns' }, codeAsTextReason);
    paragraphs.push(told?.text ?? '', '');
  }
  return paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
}

function encodeCall(part: Extract<Part, { kind: 'tool-call' }>, fit: MessageFit): JsonObject {
  // What is no object would break the template of the server's model, and the vendor refuses it without saying where.
  const input = readToolArguments(part, fit.notes);
  const text = part.arguments.trimStart().startsWith('{') ? part.arguments : JSON.stringify(input);
  return {
    id: fitId(part.id),
    type: 'function',
    function: { name: fit.toWireName(part.name), arguments: text },
    ...restoreThoughtSignature(part.proof, fit.proofOrigin),
  };
}

/**
 * Thoughts go back to the server that had them, and to nobody else; those without a mark of their maker, to servers that want thoughts
 * back.
 */
function encodeReasoning(parts: readonly Part[], hasCalls: boolean, { traits, proofOrigin }: MessageFit): JsonObject {
  const own = parts.filter(
    (part): part is ReasoningPart => part.kind === 'reasoning' && (part.proof === undefined || part.proof.origin === proofOrigin),
  );
  const details = own.map(restoreDetail).filter((entry) => entry !== undefined);
  const field = traits.chat.reasoningHistoryField;
  const text = own.flatMap((part) => part.text).join('\n\n');
  // DeepSeek refuses calls without the member, and takes an empty one where the thoughts are lost.
  const isWanted = text !== '' || (hasCalls && field === 'reasoning_content');
  return {
    ...(field === undefined || !isWanted ? {} : { [field]: text }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
  };
}
