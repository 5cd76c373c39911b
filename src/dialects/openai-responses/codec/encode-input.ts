import { arrangeTurns } from '../../../inference/arrange-turns.ts';
import { fitCallId } from '../../../inference/call-ids.ts';
import { codeAsText, codeAsTextReason } from '../../../inference/code-as-text.ts';
import { countCodePoints } from '../../../inference/count-code-points.ts';
import type {
  MediaPart,
  Part,
  ReasoningPart,
  ServerToolPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../../inference/inference-request.ts';
import { screenToolName } from '../../../inference/screen-actions.ts';
import { parseToolArguments } from '../../../inference/tool-arguments.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { writeDataUrl } from '../../data-url.ts';
import { encodeAnnotation } from './citations.ts';
import { type ContentWriting, encodeResult, encodeUserPart } from './encode-content.ts';
import { encodeAction } from './screen-actions.ts';
import { isOwnToolItem, nativeItems } from './write-server-tools.ts';

/** The items written so far, with the message that can still be extended. */
class InputWriter {
  readonly items: JsonObject[] = [];
  #open: { readonly role: 'assistant' | 'user'; readonly content: JsonObject[] } | undefined;

  add(...items: readonly JsonObject[]): void {
    this.items.push(...items);
    this.#open = undefined;
  }

  /** Adds parts to the last message, or to a new one. */
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

type Writing = {
  readonly fit: RequestFit;
  readonly toWireName: (name: string) => string;
  /** Whether the request was read from this dialect: then its own parts are written back unchanged. */
  readonly isOwn: boolean;
  readonly writer: InputWriter;
};

const contentOf = ({ fit, isOwn }: Writing): ContentWriting => ({ notes: fit.notes, isOwn });

/** Ids of calls are the client's, as far as the vendor accepts them. */
const callId = (id: string): string => fitCallId(id, { pattern: /^[\w.:/+=-]+$/, charactersMax: 64 });

/** Text of the model, with the pages that it cited. Documents that it cited are files of another vendor. */
function encodeAnswerPart({ text, citations = [] }: TextPart): readonly JsonObject[] {
  if (text === '') return [];
  const pages = citations.filter((citation) => citation.source.kind === 'url');
  const annotations = pages.length === 0 ? [] : pages.map((citation) => encodeAnnotation(citation, countCodePoints(text)));
  return [{ type: 'output_text', text, annotations }];
}

/**
 * Reasoning is sent only to the vendor that can verify its proof. Without a proof it would be a text that the model
 * never wrote.
 */
function encodeReasoning(part: ReasoningPart, { fit, writer }: Writing): void {
  // Reasoning from chat completions has an origin but no proof.
  if (part.proof?.origin !== fit.proofOrigin || part.proof.blob === '') return;
  const summary = part.text.map((text) => ({ type: 'summary_text', text }));
  // Without its id, because the vendor would look for an item that it never stored.
  writer.add({ type: 'reasoning', summary, encrypted_content: part.proof.blob });
}

/** An image that a model generated can only be sent back in a user message. */
function encodeOwnMedia(part: MediaPart, writing: Writing): void {
  const { fit, writer } = writing;
  fit.notes.adapted({ path: part.path, otherwise: 'turns' }, 'media that the model generated follows in a user message');
  const parts = encodeUserPart(part, contentOf(writing));
  writer.say('user', [{ type: 'input_text', text: 'Made by the assistant:' }, ...parts]);
}

function encodeAssistantPart(part: Part, writing: Writing): void {
  const { writer } = writing;
  switch (part.kind) {
    case 'text':
      return writer.say('assistant', encodeAnswerPart(part));
    case 'refusal':
      return writer.say('assistant', [{ type: 'refusal', refusal: part.text }]);
    case 'reasoning':
      return encodeReasoning(part, writing);
    case 'tool-call':
      writer.add(encodeCall(part, writing));
      return;
    case 'server-tool':
      return encodeToolRun(part, writing);
    case 'media':
      return encodeOwnMedia(part, writing);
    case 'vendor':
      return encodeVendorPart(part, writing);
    case 'tool-result':
      // arrangeTurns has moved results into user turns.
      return;
  }
}

/** The run of a built-in tool: as the vendor's own items, or as text with the code and its output. */
function encodeToolRun(part: ServerToolPart, writing: Writing): void {
  const { fit, writer } = writing;
  if (isReplayable(part, writing)) {
    writer.add(...part.wire);
    return;
  }
  const asText = codeAsText(part);
  if (asText === undefined) return dropPart(part, "the activity of another vendor's tool cannot be replayed here", fit);
  fit.notes.adapted({ path: part.path, otherwise: 'turns' }, codeAsTextReason);
  writer.say('assistant', encodeAnswerPart(asText));
}

function dropPart(part: Part, reason: string, fit: RequestFit): void {
  fit.notes.dropped({ path: part.path, otherwise: 'turns' }, reason);
}

/**
 * Only the vendor that ran a tool can replay its run. Remote tools and generated images exist only in this dialect.
 */
function isReplayable(part: ServerToolPart, { isOwn }: Writing): boolean {
  const items = nativeItems(part);
  if (items === undefined || items.some(isOwnToolItem)) return false;
  return isOwn || items.every(({ type }) => /^(?:web_search|file_search|code_interpreter)_call$/.test(textOf(type) ?? ''));
}

/** An item without its id, because the vendor would look for one that it never stored. */
function withoutId({ id: _id, ...item }: JsonObject): JsonObject {
  return item;
}

/** Whether a call uses the screen, and the model has the vendor's own tool for that. */
const usesScreen = (name: string, { fit }: Writing): boolean => name === screenToolName && fit.traits.screenTool !== undefined;

function encodeCall(part: ToolCallPart, writing: Writing): JsonObject {
  const { isOwn, toWireName } = writing;
  const { wire } = part;
  const id = callId(part.id);
  if (usesScreen(part.name, writing)) {
    if (isOwn && wire?.type === 'computer_call') return wire;
    const action = encodeAction(parseToolArguments(part.arguments) ?? {}) ?? { type: 'screenshot' };
    return { type: 'computer_call', call_id: id, action, pending_safety_checks: [], status: 'completed' };
  }
  if (isOwn && wire?.type === 'custom_tool_call') return withoutId(wire);
  const text = part.arguments.trim() === '' ? '{}' : part.arguments;
  return { type: 'function_call', call_id: id, name: toWireName(part.name), arguments: text };
}

function encodeVendorPart(part: Extract<Part, { kind: 'vendor' }>, writing: Writing): void {
  const { fit, isOwn, writer } = writing;
  if (isOwn) {
    // A part of a message stays in a message; everything else is an item.
    if (part.path?.includes('.content[') === true) writer.say('user', [part.wire]);
    else writer.add(part.wire);
    return;
  }
  const reason = `'${part.name}' is known to one vendor only, and this model runs at another`;
  if (part.elsewhere === 'drop') dropPart(part, reason, fit);
  else fit.notes.refuse({ path: part.path, otherwise: 'turns' }, reason);
}

/** The screenshot, because the vendor's own tool requires an image as its result. */
function encodeScreenshot(part: ToolResultPart, { isOwn }: Writing): JsonObject | undefined {
  if (isOwn && part.wire?.type === 'computer_call_output') return withoutId(part.wire);
  const image = part.content.find((piece) => piece.kind === 'media');
  const { source } = image ?? {};
  const address = source?.kind === 'inline' ? writeDataUrl(source) : source?.kind === 'url' ? source.url : undefined;
  if (address === undefined) return undefined;
  return { type: 'computer_call_output', call_id: callId(part.callId), output: { type: 'computer_screenshot', image_url: address } };
}

function encodeResultPart(part: ToolResultPart, writing: Writing): readonly JsonObject[] {
  const { fit, isOwn, writer } = writing;
  const screenshot = usesScreen(part.name ?? '', writing) ? encodeScreenshot(part, writing) : undefined;
  const own = isOwn && part.wire?.type === 'custom_tool_call_output' ? withoutId(part.wire) : undefined;
  const screenResult = screenshot ?? own;
  if (screenResult !== undefined) {
    writer.add(screenResult);
    return [];
  }
  const { output, aside } = encodeResult(part, fit.traits.imagesInToolResults, contentOf(writing));
  writer.add({ type: 'function_call_output', call_id: callId(part.callId), output });
  return aside;
}

function encodeUserTurn(turn: Turn, writing: Writing): void {
  const { fit, writer } = writing;
  const asides = turn.parts.flatMap((part) => (part.kind === 'tool-result' ? encodeResultPart(part, writing) : []));
  writer.say('user', asides);
  for (const part of turn.parts) {
    if (part.kind === 'text' || part.kind === 'media') writer.say('user', encodeUserPart(part, contentOf(writing)));
    else if (part.kind === 'vendor') encodeVendorPart(part, writing);
    else if (part.kind !== 'tool-result') dropPart(part, `a part of the kind '${part.kind}' cannot be in a user message`, fit);
  }
}

function encodeSystemTurn(turn: Turn, { fit, writer }: Writing): void {
  const parts = turn.parts.flatMap((part) => (part.kind === 'text' ? [{ type: 'input_text', text: part.text }] : []));
  for (const part of turn.parts) if (part.kind !== 'text') dropPart(part, 'system text cannot hold anything but text', fit);
  if (parts.length > 0) writer.add({ type: 'message', role: 'system', content: parts });
}

/** A reply cannot be continued from its beginning, because the model would start a new one. */
function refusePrefill(turns: readonly Turn[], fit: RequestFit): void {
  const last = turns.at(-1);
  const prefill = last?.role === 'assistant' ? last.parts.findLast((part) => part.kind === 'text') : undefined;
  if (prefill === undefined || fit.traits.prefill) return;
  fit.notes.refuse(
    { path: prefill.path, otherwise: 'turns' },
    'this model cannot continue a reply that has begun; end the conversation with a user turn',
  );
}

/** Writes the conversation as input items. */
export function encodeInput(turns: readonly Turn[], { fit, toWireName, isOwn }: Omit<Writing, 'writer'>): readonly JsonObject[] {
  const arranged = arrangeTurns(turns, { alternate: false, startsWithUser: false, systemTurns: 'keep' }, fit.notes);
  refusePrefill(arranged, fit);
  return arranged.flatMap((turn) => {
    const writing: Writing = { fit, toWireName, isOwn, writer: new InputWriter() };
    if (turn.role === 'assistant') for (const part of turn.parts) encodeAssistantPart(part, writing);
    else if (turn.role === 'user') encodeUserTurn(turn, writing);
    else encodeSystemTurn(turn, writing);
    return writing.writer.items;
  });
}
