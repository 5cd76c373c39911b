import type {
  MediaPart,
  Part,
  ReasoningPart,
  ServerToolPart,
  TextPart,
  ToolResultPart,
  Turn,
  VendorField,
} from '../../../inference/inference-request.ts';
import { contentFromObject } from '../../../inference/tool-results.ts';
import { filledText, itemsOf, membersOf, objectOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { createCallBook, type CallBook, type PartPosition } from './call-book.ts';
import { decodeMedia } from './decode-media.ts';
import { listPartFields } from './list-part-fields.ts';
import { readSignature, type CarriedReasoning } from './thought-signature.ts';

type Speaker = 'user' | 'assistant';

/** A turn that is still being read. */
type OpenTurn = { readonly role: Speaker; readonly parts: Part[] };

type Reading = {
  readonly book: CallBook;
  readonly detail: 'low' | 'high' | undefined;
  readonly turns: OpenTurn[];
  readonly vendorFields: VendorField[];
};

/**
 * Reads the conversation from the canonical form of a request. Calls without ids get one, and results find their calls.
 * Pieces of a streamed answer that a client returns separately become one text. Reasoning that was carried inside a
 * signature becomes a part of its own.
 *
 * @param detail how closely images should be examined, if the request sets it for all of them
 */
export function decodeContents(
  contents: JsonValue | undefined,
  detail: 'low' | 'high' | undefined,
): { readonly turns: readonly Turn[]; readonly vendorFields: readonly VendorField[] } {
  const reading: Reading = { book: createCallBook(), detail, turns: [], vendorFields: [] };
  for (const [index, content] of itemsOf(contents).entries()) {
    if (!isJsonObject(content)) continue;
    const speaker: Speaker = content.role === 'model' ? 'assistant' : 'user';
    beginContent(reading, speaker);
    for (const [at, part] of itemsOf(content.parts).entries()) {
      if (isJsonObject(part)) readPart(reading, part, speaker, { content: index, part: at });
    }
  }
  return { turns: reading.turns.filter((turn) => turn.parts.length > 0), vendorFields: reading.vendorFields };
}

/** Begins a turn. Each content of the user is a turn of its own; consecutive contents of the model are one turn. */
function beginContent(reading: Reading, speaker: Speaker): void {
  if (speaker === 'assistant' && reading.turns.at(-1)?.role === 'assistant') return;
  if (speaker === 'assistant') reading.book.beginRound();
  reading.turns.push({ role: speaker, parts: [] });
}

const pathOf = ({ content, part }: PartPosition): string => `contents[${content}].parts[${part}]`;

/**
 * Returns the parts of the current turn, or of a new one if the role differs: a call is the model's and a result the
 * user's, wherever they are.
 */
function partsFor(reading: Reading, role: Speaker): Part[] {
  const last = reading.turns.at(-1);
  if (last?.role === role) return last.parts;
  const turn: OpenTurn = { role, parts: [] };
  reading.turns.push(turn);
  return turn.parts;
}

function readPart(reading: Reading, part: JsonObject, speaker: Speaker, place: PartPosition): void {
  const path = pathOf(place);
  reading.vendorFields.push(...listPartFields(part, path));
  if (isJsonObject(part.functionCall)) {
    readCall(reading, part.functionCall, part.thoughtSignature, place);
  } else if (isJsonObject(part.functionResponse)) {
    const id = filledText(part.functionResponse.id);
    // Gemini CLI 0.61 repeats results when it resumes a session.
    if (id !== undefined && reading.book.isAnswered(id)) reading.vendorFields.push({ field: path, value: part, weight: 'matters' });
    else partsFor(reading, 'user').push(readResult(reading, part.functionResponse, place));
  } else if (typeof part.text === 'string') {
    if (speaker === 'assistant') readModelText(partsFor(reading, speaker), part.text, part, path);
    else partsFor(reading, speaker).push({ kind: 'text', text: part.text, path });
  } else if (isJsonObject(part.executableCode) || isJsonObject(part.codeExecutionResult)) {
    readCode(partsFor(reading, speaker), part, path);
  } else {
    readOther(reading, part, speaker, path);
  }
}

function readOther(reading: Reading, part: JsonObject, speaker: Speaker, path: string): void {
  const parts = partsFor(reading, speaker);
  const media = decodeMedia(part, reading.detail);
  if (media !== undefined) {
    parts.push({ ...media, path });
    return;
  }
  const name = Object.keys(part).find((key) => key !== 'thought' && key !== 'thoughtSignature' && key !== 'partMetadata');
  if (name !== undefined) {
    // The activity of the vendor's own tools is a record: a conversation makes sense without it.
    const isRecord = name === 'toolCall' || name === 'toolResponse';
    parts.push({ kind: 'vendor', name, wire: part, elsewhere: isRecord ? 'drop' : 'refuse', path });
    return;
  }
  // A last part that contains only a signature.
  if (speaker === 'assistant') readModelText(parts, '', part, path);
}

function readCall(reading: Reading, call: JsonObject, signature: unknown, place: PartPosition): void {
  const parts = partsFor(reading, 'assistant');
  const name = textOf(call.name) ?? '';
  const read = readSignature(signature);
  if (read?.kind === 'reasoning') restoreReasoning(parts, read.reasoning);
  parts.push({
    kind: 'tool-call',
    id: reading.book.addCall(name, filledText(call.id), place),
    name,
    arguments: JSON.stringify(call.args ?? {}),
    path: pathOf(place),
    ...(read?.kind === 'part' ? { proof: read.proof } : {}),
  });
}

/** Whether a response is a single value under one of the names that the vendor recommends. */
function isWrapped(response: JsonObject): boolean {
  const [only, ...others] = Object.keys(response);
  return others.length === 0 && (only === 'result' || only === 'output');
}

function readResult(reading: Reading, result: JsonObject, place: PartPosition): ToolResultPart {
  const path = pathOf(place);
  const name = textOf(result.name) ?? '';
  const response = membersOf(result.response);
  const failure = Object.keys(response).length === 1 ? textOf(response.error) : undefined;
  const text = failure ?? contentFromObject(response);
  if (isWrapped(response)) {
    // As text it may be wrapped differently, or be read as another type.
    reading.vendorFields.push({ field: `${path}.functionResponse.response`, value: response, weight: 'harmless' });
  }
  const media = objectsOf(result.parts).flatMap((part): readonly MediaPart[] => {
    const found = decodeMedia(part, reading.detail);
    return found === undefined ? [] : [{ ...found, path }];
  });
  const texts: readonly TextPart[] = text === '' ? [] : [{ kind: 'text', text, path }];
  return {
    kind: 'tool-result',
    callId: reading.book.answer(name, filledText(result.id), place),
    name,
    content: [...texts, ...media],
    isError: failure !== undefined,
    path,
  };
}

/**
 * Restores reasoning of another vendor at its place: the thoughts before the part with the signature, if the client
 * kept them.
 */
function restoreReasoning(parts: Part[], { proof, text, itemId }: CarriedReasoning): void {
  const last = parts.at(-1);
  const shown = last?.kind === 'reasoning' && last.proof === undefined ? last : undefined;
  if (shown !== undefined) parts.pop();
  const restored: ReasoningPart = { kind: 'reasoning', text: text ?? shown?.text ?? [], proof };
  parts.push({ ...restored, ...(itemId === undefined ? {} : { itemId }), ...(shown?.path === undefined ? {} : { path: shown.path }) });
}

/** Reads text and thoughts of the model. Streamed pieces of one text are joined; a proof ends a text. */
function readModelText(parts: Part[], text: string, wire: JsonObject, path: string): void {
  const read = readSignature(wire.thoughtSignature);
  const isThought = wire.thought === true;
  if (read?.kind === 'reasoning') {
    if (isThought && text !== '') addPiece(parts, { kind: 'reasoning', text: [text], path });
    restoreReasoning(parts, read.reasoning);
    if (!isThought && text !== '') addPiece(parts, { kind: 'text', text, path });
    return;
  }
  const proven = read === undefined ? {} : { proof: read.proof };
  if (text === '' && read === undefined) return;
  const last = parts.at(-1);
  const isOpen = (last?.kind === 'text' || last?.kind === 'reasoning') && last.proof === undefined;
  if (text === '' && isOpen) parts[parts.length - 1] = { ...last, ...proven };
  else if (text === '') parts.push({ kind: 'reasoning', text: [], path, ...proven });
  else addPiece(parts, isThought ? { kind: 'reasoning', text: [text], path, ...proven } : { kind: 'text', text, path, ...proven });
}

/** `join` would copy the whole text again for each piece. */
const joinPieces = ([first = '', ...others]: readonly string[]): string => others.reduce((text, piece) => text + piece, first);

function addPiece(parts: Part[], piece: TextPart | ReasoningPart): void {
  const last = parts.at(-1);
  const proven = piece.proof === undefined ? {} : { proof: piece.proof };
  if (last?.kind === 'text' && piece.kind === 'text' && last.proof === undefined) {
    parts[parts.length - 1] = { ...last, text: last.text + piece.text, ...proven };
  } else if (last?.kind === 'reasoning' && piece.kind === 'reasoning' && last.proof === undefined) {
    parts[parts.length - 1] = { ...last, text: [joinPieces(last.text) + joinPieces(piece.text)], ...proven };
  } else parts.push(piece);
}

function readCode(parts: Part[], wire: JsonObject, path: string): void {
  const result = objectOf(wire.codeExecutionResult);
  const last = parts.at(-1);
  if (result !== undefined && last?.kind === 'server-tool' && last.tool === 'code-execution' && last.results === undefined) {
    parts[parts.length - 1] = addCodeResult(last, wire);
    return;
  }
  const started: ServerToolPart = { ...startCode(wire, `code_${path.replaceAll(/\D+/g, '_').replaceAll(/^_|_$/g, '')}`), path };
  parts.push(result === undefined ? started : addCodeResult(started, wire));
}

/** Starts a record of code, before its result is known. */
export function startCode(wire: JsonObject, newId: string): ServerToolPart {
  const code = objectOf(wire.executableCode);
  const text = filledText(code?.code);
  const input = text === undefined ? [] : [text];
  return { kind: 'server-tool', tool: 'code-execution', id: filledText(code?.id) ?? newId, input, wire: code === undefined ? [] : [wire] };
}

/** Adds the output of the code. */
export function addCodeResult(part: ServerToolPart, wire: JsonObject): ServerToolPart {
  const result = membersOf(wire.codeExecutionResult);
  const failed = typeof result.outcome === 'string' && result.outcome !== 'OUTCOME_OK' && result.outcome !== 'OUTCOME_UNSPECIFIED';
  const isLate = result.outcome === 'OUTCOME_DEADLINE_EXCEEDED';
  return {
    ...part,
    results: [{ text: textOf(result.output) ?? '' }],
    ...(failed ? { failed } : {}),
    ...(isLate ? { failure: 'timed-out' } : {}),
    wire: [...part.wire, wire],
  };
}
