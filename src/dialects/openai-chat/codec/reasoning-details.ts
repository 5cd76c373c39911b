import type { ReasoningPart } from '../../../inference/inference-request.ts';
import { readProof, unwrapProof, wrappedProofPrefix, wrapProof, type Proof } from '../../../inference/proof.ts';
import { filledText, membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { member } from './member.ts';

/** The members under which servers show thoughts, in the order in which they are believed: some send the same text under several. */
const thoughtMembers = ['reasoning_content', 'reasoning', 'thinking'] as const;

/** The thoughts in a message or a delta, without regard to its `reasoning_details`. */
export function readThoughts(message: JsonObject): string | undefined {
  for (const name of thoughtMembers) {
    const text = filledText(message[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The visible text of an entry of `reasoning_details`: thoughts or a summary of them. */
export const detailText = (entry: JsonObject): string | undefined => filledText(entry.text) ?? filledText(entry.summary);

/** The opaque value of an entry: the signature of its text, or encrypted reasoning. */
export const detailValue = (entry: JsonObject): string | undefined => filledText(entry.signature) ?? filledText(entry.data);

/**
 * Takes the proof out of an entry that an upstream wrote. The upstream wants all of the entry back, so all of it is the proof but the text,
 * which travels as the text that it is. Undefined for an entry that proves nothing.
 */
export function takeProof(entry: JsonObject, origin: string): Proof | undefined {
  if (detailValue(entry) === undefined) return undefined;
  const { text: _text, summary: _summary, ...proving } = entry;
  return { origin, blob: JSON.stringify(proving), ...(entry.type === 'reasoning.encrypted' && { hidden: true }) };
}

/**
 * What shown thoughts carry when their server proves nothing: only whose they are. Without it nobody could tell in the next request that
 * they may go back to it, which servers demand (openai-compatible ones with `reasoningHistoryField`).
 */
export const shownBy = (origin: string): Proof => ({ origin, blob: '' });

/**
 * Writes reasoning back for the upstream that made it: the entry that it sent, with its text. Undefined where it proved nothing, or in
 * another dialect.
 */
export function restoreDetail({ text, proof }: ReasoningPart): JsonObject | undefined {
  const entry = proof === undefined ? undefined : parseJsonObject(proof.blob);
  if (entry === undefined || text.length === 0 || entry.type === 'reasoning.encrypted') return entry;
  return { ...entry, [entry.type === 'reasoning.summary' ? 'summary' : 'text']: text.join('\n\n') };
}

/**
 * Writes reasoning with its proof as entries for a client, one for each paragraph; entries of one piece of reasoning share their `index`.
 * This dialect has no vendor whose proofs these would be, so every proof is wrapped.
 */
export function encodeDetails({ text, proof, itemId }: ReasoningPart, index: number): readonly JsonObject[] {
  if (proof === undefined) return [];
  const common = { ...member('id', itemId), index };
  const value = wrapProof(proof);
  if (proof.hidden === true || text.length === 0) return [{ type: 'reasoning.encrypted', data: value, ...common }];
  return text.map((paragraph, at) => ({
    type: 'reasoning.text',
    text: paragraph,
    ...(at === text.length - 1 && { signature: value }),
    ...common,
  }));
}

type Piece = { text: string[]; index: unknown; proof?: Proof; itemId?: string };

/**
 * Reads the reasoning that an assistant's message of a client brings back. Proofs that are not wrapped belong to nobody known here and are
 * left out.
 */
export function decodeReasoning(message: JsonObject, path: string): readonly ReasoningPart[] {
  const pieces: Piece[] = [];
  for (const entry of objectsOf(message.reasoning_details)) {
    const last = pieces.at(-1);
    const continues = last !== undefined && last.proof === undefined && last.index !== undefined && last.index === entry.index;
    const piece: Piece = continues ? last : { text: [], index: entry.index };
    if (!continues) pieces.push(piece);
    readEntry(piece, entry);
  }
  const told = pieces.filter((piece) => piece.text.length > 0 || piece.proof !== undefined);
  const thoughts = readThoughts(message);
  const all: readonly Omit<Piece, 'index'>[] = told.length > 0 || thoughts === undefined ? told : [{ text: [thoughts] }];
  return all.map(({ text, proof, itemId }) => ({
    kind: 'reasoning',
    text,
    ...(proof === undefined ? {} : { proof }),
    ...(itemId === undefined ? {} : { itemId }),
    path,
  }));
}

function readEntry(piece: Piece, entry: JsonObject): void {
  const text = detailText(entry);
  const value = detailValue(entry);
  const proof = value === undefined ? undefined : unwrapProof(value);
  const itemId = filledText(entry.id);
  if (text !== undefined) piece.text.push(text);
  if (proof !== undefined) piece.proof = proof;
  if (itemId !== undefined) piece.itemId = itemId;
}

const gemini = 'gemini';

/** Google's field for the proof of a call or of a text, as its own chat completions interface has it. */
export const readThoughtSignature = (value: JsonObject): string | undefined =>
  filledText(membersOf(membersOf(value.extra_content).google).thought_signature);

/** Reads the proof of a call or of a text that a client brings back: a wrapped one is of whom it names, any other of the field's vendor. */
export function decodeThoughtSignature(value: JsonObject): Proof | undefined {
  const signature = readThoughtSignature(value);
  if (signature === undefined) return undefined;
  // A wrapped one that was damaged is nobody's.
  return signature.startsWith(wrappedProofPrefix) ? unwrapProof(signature) : readProof(signature, gemini);
}

/** Writes a value for that field. */
const thoughtSignature = (value: string): JsonObject => ({ extra_content: { google: { thought_signature: value } } });

/**
 * Writes a proof for a client. It is wrapped whoever made it: in the vendor's own interface the field is unknown, and only a wrapped one
 * can be taken out.
 */
export const encodeThoughtSignature = (proof: Proof): JsonObject => thoughtSignature(wrapProof(proof));

/** Writes the proof of a call or of a text back for the upstream that made it. */
export const restoreThoughtSignature = (proof: Proof | undefined, origin: string): JsonObject =>
  proof === undefined || proof.origin !== origin ? {} : thoughtSignature(proof.blob);
