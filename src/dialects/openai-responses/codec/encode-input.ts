import { arrangeTurns } from '../../../inference/arrange-turns.ts';
import { fitCallId } from '../../../inference/call-ids.ts';
import { countCodePoints } from '../../../inference/count-code-points.ts';
import type { MediaPart, Part, ReasoningPart, TextPart, ToolResultPart, Turn } from '../../../inference/inference-request.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { encodeAnnotation } from './citations.ts';
import { encodeResult, encodeUserPart } from './encode-content.ts';

/** The items written so far, with the message that can still be added to. */
class InputWriter {
  readonly items: JsonObject[] = [];
  #open: { readonly role: 'assistant' | 'user'; readonly content: JsonObject[] } | undefined;

  add(...items: readonly JsonObject[]): void {
    this.items.push(...items);
    this.#open = undefined;
  }

  /** Says parts in the message that stands last, or in a new one. */
  say(role: 'assistant' | 'user', parts: readonly JsonObject[]): void {
    if (parts.length === 0) return;
    if (this.#open?.role === role) {
      this.#open.content.push(...parts);
      return;
    }
    const content = [...parts];
    this.add({ type: 'message', role, content });
    this.#open = { role, content };
  }
}

type Writing = { readonly fit: RequestFit; readonly toWireName: (name: string) => string; readonly writer: InputWriter };

/** Ids of calls are the client's, as far as the vendor takes them. */
const callId = (id: string): string => fitCallId(id, { pattern: /^[\w.:/+=-]+$/, charactersMax: 64 });

/** What the model said, with the pages it cited. Documents that it cited are files of another vendor. */
function encodeAnswerPart({ text, citations = [] }: TextPart): readonly JsonObject[] {
  if (text === '') return [];
  const pages = citations.filter((citation) => citation.source.kind === 'url');
  const annotations = pages.length === 0 ? [] : pages.map((citation) => encodeAnnotation(citation, countCodePoints(text)));
  return [{ type: 'output_text', text, annotations }];
}

/** Reasoning goes back only to the vendor that can prove it; without proof it would be a text that the model never said. */
function encodeReasoning(part: ReasoningPart, { fit, writer }: Writing): void {
  // Thoughts that came over chat completions are known by their origin and have nothing to prove it with.
  if (part.proof?.origin !== fit.proofOrigin || part.proof.blob === '') return;
  const summary = part.text.map((text) => ({ type: 'summary_text', text }));
  // Without its id: the vendor would look for an item that it never stored.
  writer.add({ type: 'reasoning', summary, encrypted_content: part.proof.blob });
}

const isVendorItem = (wire: JsonObject): boolean => /^(?:web_search|file_search|code_interpreter)_call$/.test(textOf(wire.type) ?? '');

/** A picture that a model made can only be shown to it by the user. */
function encodeOwnMedia(part: MediaPart, { fit, writer }: Writing): void {
  fit.notes.adapted({ path: part.path, otherwise: 'turns' }, 'what the model made is shown to it in a user message');
  const parts = encodeUserPart(part, fit.notes);
  writer.say('user', [{ type: 'input_text', text: 'Made by the assistant:' }, ...parts]);
}

function encodeAssistantPart(part: Part, writing: Writing): void {
  const { fit, toWireName, writer } = writing;
  switch (part.kind) {
    case 'text':
      return writer.say('assistant', encodeAnswerPart(part));
    case 'refusal':
      return writer.say('assistant', [{ type: 'refusal', refusal: part.text }]);
    case 'reasoning':
      return encodeReasoning(part, writing);
    case 'tool-call': {
      const text = part.arguments.trim() === '' ? '{}' : part.arguments;
      writer.add({ type: 'function_call', call_id: callId(part.id), name: toWireName(part.name), arguments: text });
      return;
    }
    case 'server-tool':
      if (part.wire.length > 0 && part.wire.every(isVendorItem)) writer.add(...part.wire);
      else dropPart(part, 'what a tool of another vendor did cannot be replayed to this one', fit);
      return;
    case 'media':
      return encodeOwnMedia(part, writing);
    case 'vendor':
      return encodeVendorPart(part, fit);
    case 'tool-result':
      // Results stand in user turns: arrangeTurns has seen to it.
      return;
  }
}

function dropPart(part: Part, reason: string, fit: RequestFit): void {
  fit.notes.dropped({ path: part.path, otherwise: 'turns' }, reason);
}

function encodeVendorPart(part: Extract<Part, { kind: 'vendor' }>, fit: RequestFit): void {
  const reason = `'${part.name}' is known to one vendor only, and this model runs at another`;
  if (part.elsewhere === 'drop') dropPart(part, reason, fit);
  else fit.notes.refuse({ path: part.path, otherwise: 'turns' }, reason);
}

function encodeResultPart(part: ToolResultPart, { fit, writer }: Writing): readonly JsonObject[] {
  const { output, aside } = encodeResult(part, fit.traits.imagesInToolResults, fit.notes);
  writer.add({ type: 'function_call_output', call_id: callId(part.callId), output });
  return aside;
}

function encodeUserTurn(turn: Turn, writing: Writing): void {
  const { fit, writer } = writing;
  const asides = turn.parts.flatMap((part) => (part.kind === 'tool-result' ? encodeResultPart(part, writing) : []));
  writer.say('user', asides);
  for (const part of turn.parts) {
    if (part.kind === 'text' || part.kind === 'media') writer.say('user', encodeUserPart(part, fit.notes));
    else if (part.kind === 'vendor') encodeVendorPart(part, fit);
    else if (part.kind !== 'tool-result') dropPart(part, `a part of the kind '${part.kind}' cannot be said by the user`, fit);
  }
}

function encodeSystemTurn(turn: Turn, { fit, writer }: Writing): void {
  const parts = turn.parts.flatMap((part) => (part.kind === 'text' ? [{ type: 'input_text', text: part.text }] : []));
  for (const part of turn.parts) if (part.kind !== 'text') dropPart(part, 'system text cannot hold anything but text', fit);
  if (parts.length > 0) writer.add({ type: 'message', role: 'system', content: parts });
}

/** A reply cannot be continued from its beginning: the model would begin a new one. */
function refusePrefill(turns: readonly Turn[], fit: RequestFit): void {
  const last = turns.at(-1);
  const said = last?.role === 'assistant' ? last.parts.findLast((part) => part.kind === 'text') : undefined;
  if (said === undefined || fit.traits.prefill) return;
  fit.notes.refuse(
    { path: said.path, otherwise: 'turns' },
    'this model cannot continue a reply that has begun; end the conversation with a user turn',
  );
}

/** Writes the conversation as input items. */
export function encodeInput(turns: readonly Turn[], fit: RequestFit, toWireName: (name: string) => string): readonly JsonObject[] {
  const arranged = arrangeTurns(turns, { alternate: false, startsWithUser: false, systemTurns: 'keep' }, fit.notes);
  refusePrefill(arranged, fit);
  return arranged.flatMap((turn) => {
    const writing: Writing = { fit, toWireName, writer: new InputWriter() };
    if (turn.role === 'assistant') for (const part of turn.parts) encodeAssistantPart(part, writing);
    else if (turn.role === 'user') encodeUserTurn(turn, writing);
    else encodeSystemTurn(turn, writing);
    return writing.writer.items;
  });
}
