import { arrangeTurns } from '../../../inference/arrange-turns.ts';
import { codeAsText, codeAsTextReason } from '../../../inference/code-as-text.ts';
import type { MediaPart, Part, ReasoningPart, ToolCallPart, ToolResultPart, Turn } from '../../../inference/inference-request.ts';
import { SentCallIds } from '../../../inference/sent-call-ids.ts';
import { readToolArguments } from '../../../inference/tool-arguments.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import type { CachePoints } from './cache-points.ts';
import { DocumentNames, encodeMedia } from './encode-media.ts';
import { traitsOf } from './traits.ts';

/** Source: ToolUseBlock of the Bedrock API reference. */
const callIdRules = { pattern: /^[a-zA-Z0-9_-]+$/, charactersMax: 64 };

export type TurnWriting = {
  readonly fit: RequestFit;
  readonly toWireName: (name: string) => string;
  readonly points: CachePoints;
};

type MessageWriting = TurnWriting & { readonly callIds: SentCallIds; readonly names: DocumentNames };

/** Writes `messages`: turns that alternate, begin with the user's and end with one that is not the assistant's. */
export function encodeMessages(turns: readonly Turn[], writing: TurnWriting): readonly JsonObject[] {
  const { fit } = writing;
  const readable = turns.map((turn) => ({ ...turn, parts: turn.parts.flatMap((part) => keepReadable(part, turn, fit)) }));
  const arranged = arrangeTurns(readable, { alternate: true, startsWithUser: true, systemTurns: 'as-user' }, fit.notes);
  const messages: MessageWriting = { ...writing, callIds: new SentCallIds(callIdRules), names: new DocumentNames() };
  return endWithUser(arranged, fit).map((turn) => ({ role: turn.role, content: encodeContent(turn, messages) }));
}

/** Removes content that the upstream cannot read: blank text, thoughts without its proof, work of other tools. */
function keepReadable(part: Part, { role }: Turn, { notes, proofOrigin }: RequestFit): readonly Part[] {
  const place = { path: part.path, otherwise: 'turns' } as const;
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? [] : [part];
    case 'reasoning':
      return role === 'assistant' && part.proof?.origin === proofOrigin ? [part] : [];
    case 'media':
      if (role !== 'assistant') return [part];
      notes.dropped(place, `the vendor of this model does not accept ${part.media} in an assistant turn`);
      return [];
    case 'server-tool': {
      const text = codeAsText(part);
      if (text === undefined) notes.dropped(place, "the activity of another vendor's tool cannot be replayed here");
      else notes.adapted(place, codeAsTextReason);
      return text === undefined ? [] : [text];
    }
    case 'vendor':
      if (part.elsewhere === 'refuse') notes.refuse(place, `the vendor of this model does not support ${part.name}; leave it out`);
      notes.dropped(place, `the vendor of this model does not support ${part.name}`);
      return [];
    case 'tool-call':
    case 'tool-result':
      return [part];
  }
}

/** A conversation may end with an assistant turn only if the model continues it. */
function endWithUser(turns: readonly Turn[], { traits, notes }: RequestFit): readonly Turn[] {
  if (turns.at(-1)?.role !== 'assistant' || traits.prefill) return turns;
  notes.adapted('turns', 'this model does not continue an assistant turn; the prompt asks for it');
  return [...turns, { role: 'user', parts: [{ kind: 'text', text: 'Continue from where your last message ends.' }] }];
}

function encodeContent({ parts }: Turn, writing: MessageWriting): readonly JsonObject[] {
  const results: JsonObject[] = [];
  const moved: JsonObject[] = [];
  const rest: JsonObject[] = [];
  for (const part of parts) {
    if (part.kind !== 'tool-result') rest.push(...encodePart(part, writing), ...writing.points.after(part.path, 'messages'));
    else {
      const { block, after } = encodeResult(part, writing);
      results.push(block, ...writing.points.after(part.path, 'messages'));
      moved.push(...after);
    }
  }
  const content = [...results, ...moved, ...rest];
  const hasDocument = content.some(({ document }) => document !== undefined);
  // A document needs a text beside it.
  return hasDocument && !content.some(({ text }) => text !== undefined) ? [...content, { text: '.' }] : content;
}

function encodePart(part: Exclude<Part, ToolResultPart>, writing: MessageWriting): readonly JsonObject[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [{ text: part.text }];
    case 'media':
      return [encodeMedia(part, writing)];
    case 'reasoning':
      return [encodeReasoning(part)];
    case 'tool-call':
      return [encodeCall(part, writing)];
    case 'server-tool':
    case 'vendor':
      return [];
  }
}

/** Writes native reasoning; its signature is unchanged byte for byte. */
function encodeReasoning({ text, proof }: ReasoningPart): JsonObject {
  if (proof?.hidden === true) return { reasoningContent: { redactedContent: proof.blob } };
  return { reasoningContent: { reasoningText: { text: text.join('\n\n'), signature: proof?.blob ?? '' } } };
}

function encodeCall(part: ToolCallPart, { fit, toWireName, callIds }: MessageWriting): JsonObject {
  return { toolUse: { toolUseId: callIds.ofCall(part.id), name: toWireName(part.name), input: readToolArguments(part, fit.notes) } };
}

type EncodedResult = { readonly block: JsonObject; readonly after: readonly JsonObject[] };

function encodeResult(part: ToolResultPart, writing: MessageWriting): EncodedResult {
  const { fit, callIds } = writing;
  const toolUseId = callIds.ofResult(part.callId);
  const { resultStatus } = traitsOf(fit.traits);
  const inside: JsonObject[] = [];
  const after: JsonObject[] = [];
  for (const piece of part.content) {
    if (piece.kind === 'media') writeMedia(piece, toolUseId, writing, { inside, after });
    else if (piece.text.trim() !== '') inside.push({ text: piece.text });
  }
  if (part.isError && !resultStatus) inside.unshift({ text: 'Error:' });
  // The content may not be empty.
  const content = inside.length === 0 ? [{ text: '(no output)' }] : inside;
  return { block: { toolResult: { toolUseId, content, ...(part.isError && resultStatus ? { status: 'error' } : {}) } }, after };
}

function writeMedia(
  piece: MediaPart,
  id: string,
  writing: MessageWriting,
  { inside, after }: { readonly inside: JsonObject[]; readonly after: JsonObject[] },
): void {
  const { fit } = writing;
  if (fit.traits.imagesInToolResults) {
    inside.push(encodeMedia(piece, writing));
    return;
  }
  fit.notes.adapted({ path: piece.path, otherwise: 'turns' }, 'this model accepts only text as the result of a tool; the rest follows it');
  inside.push({ text: `The ${piece.media} that the call ${id} returned follows its result.` });
  after.push({ text: `Returned by the call ${id}:` }, encodeMedia(piece, writing));
}
