import type { MediaPart, Part, ReasoningPart, ToolCallPart, ToolResultPart, Turn } from '../../../inference/inference-request.ts';
import type { OwnMembers } from '../../../inference/own-fields.ts';
import { SentCallIds } from '../../../inference/sent-call-ids.ts';
import { readToolArguments } from '../../../inference/tool-arguments.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { encodeMedia } from './encode-media.ts';
import { nativeBlocks } from './server-tools.ts';

export const callIdRules = { pattern: /^[a-zA-Z0-9_-]+$/, charactersMax: 256 };

type TurnWriting = {
  readonly fit: RequestFit;
  readonly toWireName: (name: string) => string;
  /** Whether the request was read from this dialect, and the members of its blocks without a neutral name. */
  readonly isOwn: boolean;
  readonly own: OwnMembers;
  readonly callIds: SentCallIds;
};

/** Writes arranged turns as `messages`. */
export function encodeMessages(
  turns: readonly Turn[],
  options: Pick<TurnWriting, 'fit' | 'toWireName' | 'isOwn' | 'own'>,
): readonly JsonObject[] {
  const writing: TurnWriting = { ...options, callIds: new SentCallIds(callIdRules) };
  return turns.map((turn) => ({ role: turn.role, content: encodeContent(turn, writing) }));
}

function encodeContent({ parts }: Turn, writing: TurnWriting): string | readonly JsonObject[] {
  const [only, ...others] = parts;
  if (others.length === 0 && only?.kind === 'text' && !writing.own.has(only.path)) return only.text;
  const results: JsonObject[] = [];
  const moved: JsonObject[] = [];
  const rest: JsonObject[] = [];
  for (const part of parts) {
    if (part.kind !== 'tool-result') rest.push(...markBlocks(encodePart(part, writing), part.path, writing));
    else {
      const { block, after } = encodeResult(part, writing);
      results.push(...markBlocks([block], part.path, writing));
      moved.push(...after);
    }
  }
  // The vendor requires all results before any other content of the user.
  return [...results, ...moved, ...rest];
}

/**
 * Adds the members without a neutral name to the last block of a part: marks for the cache, and whether a document may
 * be cited.
 */
function markBlocks(blocks: readonly JsonObject[], path: string | undefined, { own }: TurnWriting): readonly JsonObject[] {
  const last = blocks.at(-1);
  const members = last === undefined ? undefined : own.take(path);
  return members === undefined || last === undefined ? blocks : [...blocks.slice(0, -1), { ...last, ...members }];
}

function encodePart(part: Exclude<Part, ToolResultPart>, writing: TurnWriting): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: part.text }];
    case 'media':
      return [encodeOwnFile(part, writing) ?? encodeMedia(part, writing.fit.notes)];
    case 'reasoning':
      return [encodeReasoning(part)];
    case 'tool-call':
      return [encodeCall(part, writing)];
    case 'server-tool':
      return nativeBlocks(part) ?? [];
    case 'vendor':
      return writing.isOwn ? [part.wire] : [];
  }
}

/** Writes a file that the vendor stores, by its id. */
function encodeOwnFile({ media, source }: MediaPart, { isOwn }: TurnWriting): JsonObject | undefined {
  if (!isOwn || source.kind !== 'vendor-file') return undefined;
  return { type: media === 'image' ? 'image' : 'document', source: { type: 'file', file_id: source.id } };
}

/** Writes native reasoning; its signature is unchanged byte for byte. */
function encodeReasoning({ text, proof }: ReasoningPart): JsonObject {
  if (proof?.hidden === true) return { type: 'redacted_thinking', data: proof.blob };
  return { type: 'thinking', thinking: text.join('\n\n'), signature: proof?.blob ?? '' };
}

function encodeCall(part: ToolCallPart, { fit, toWireName, callIds }: TurnWriting): JsonObject {
  return { type: 'tool_use', id: callIds.ofCall(part.id), name: toWireName(part.name), input: readToolArguments(part, fit.notes) };
}

type EncodedResult = { readonly block: JsonObject; readonly after: readonly JsonObject[] };

function encodeResult(part: ToolResultPart, writing: TurnWriting): EncodedResult {
  const { fit, callIds } = writing;
  const id = callIds.ofResult(part.callId);
  const inside: JsonObject[] = [];
  const after: JsonObject[] = [];
  for (const piece of part.content) {
    if (piece.kind === 'text') {
      if (piece.text.trim() !== '') inside.push(...markBlocks([{ type: 'text', text: piece.text }], piece.path, writing));
    } else if (fit.traits.imagesInToolResults) inside.push(...markBlocks([encodeMedia(piece, fit.notes)], piece.path, writing));
    else {
      fit.notes.adapted(
        { path: piece.path, otherwise: 'turns' },
        'this model accepts only text as the result of a tool; the rest follows it',
      );
      inside.push({ type: 'text', text: `The ${piece.media} that the call ${id} returned follows its result.` });
      after.push({ type: 'text', text: `Returned by the call ${id}:` }, encodeMedia(piece, fit.notes));
    }
  }
  const [only, ...others] = inside;
  const isPlain = others.length === 0 && only?.type === 'text' && Object.keys(only).length === 2;
  const content = only === undefined ? '' : isPlain ? (only.text ?? '') : inside;
  return { block: { type: 'tool_result', tool_use_id: id, content, ...(part.isError ? { is_error: true } : {}) }, after };
}
