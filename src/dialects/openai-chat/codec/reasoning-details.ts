import type { ReasoningPart } from '../../../inference/inference-request.ts';
import { readProof, unwrapProof, wrappedProofPrefix, wrapProof, type Proof } from '../../../inference/proof.ts';
import { filledText, membersOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { member } from './member.ts';

/** The members with reasoning, in order of preference, because some servers send the same text in several. */
const thoughtMembers = ['reasoning_content', 'reasoning', 'thinking'] as const;

/** The reasoning in a message or a delta, without its `reasoning_details`. */
export function readThoughts(message: JsonObject): string | undefined {
  for (const name of thoughtMembers) {
    const text = filledText(message[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The visible text of an entry of `reasoning_details`: reasoning or a summary. */
export const detailText = (entry: JsonObject): string | undefined => filledText(entry.text) ?? filledText(entry.summary);

/** The opaque value of an entry: the signature of its text, or encrypted reasoning. */
export const detailValue = (entry: JsonObject): string | undefined => filledText(entry.signature) ?? filledText(entry.data);

/**
 * Extracts the proof from an entry of an upstream. The upstream requires the whole entry back, so the proof is the
 * entry without its text, which is stored separately. Undefined for an entry without a proof.
 */
export function takeProof(entry: JsonObject, origin: string): Proof | undefined {
  if (detailValue(entry) === undefined) return undefined;
  const { text: _text, summary: _summary, ...proving } = entry;
  return { origin, blob: JSON.stringify(proving), ...(entry.type === 'reasoning.encrypted' && { hidden: true }) };
}

/**
 * The proof of visible reasoning from a server without proofs: only its origin. Without it, the next request could not
 * be matched to the server that requires the reasoning back (openai-compatible ones with `reasoningHistoryField`).
 */
export const shownBy = (origin: string): Proof => ({ origin, blob: '' });

/**
 * Writes reasoning for the upstream that generated it: its entry with the text. Undefined if the proof is empty or of
 * another dialect.
 */
export function restoreDetail({ text, proof }: ReasoningPart): JsonObject | undefined {
  const entry = proof === undefined ? undefined : parseJsonObject(proof.blob);
  if (entry === undefined || text.length === 0 || entry.type === 'reasoning.encrypted') return entry;
  return { ...entry, [entry.type === 'reasoning.summary' ? 'summary' : 'text']: text.join('\n\n') };
}

/**
 * Writes reasoning with its proof as entries for a client, one per paragraph. Entries of one piece of reasoning share
 * their `index`. This dialect has no vendor of its own for proofs, so every proof is wrapped.
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
 * Reads the reasoning in an assistant message of a client. Proofs that are not wrapped have no known owner and are
 * omitted.
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
  const withContent = pieces.filter((piece) => piece.text.length > 0 || piece.proof !== undefined);
  const thoughts = readThoughts(message);
  const all: readonly Omit<Piece, 'index'>[] = withContent.length > 0 || thoughts === undefined ? withContent : [{ text: [thoughts] }];
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

/** Google's field for the proof of a call or a text, from its own chat completions interface. */
export const readThoughtSignature = (value: JsonObject): string | undefined =>
  filledText(membersOf(membersOf(value.extra_content).google).thought_signature);

/**
 * Reads the proof of a call or a text in a client's request: a wrapped one has its owner's name, any other belongs to
 * Google.
 */
export function decodeThoughtSignature(value: JsonObject): Proof | undefined {
  const signature = readThoughtSignature(value);
  if (signature === undefined) return undefined;
  // A damaged wrapped proof has no owner.
  return signature.startsWith(wrappedProofPrefix) ? unwrapProof(signature) : readProof(signature, gemini);
}

/** Writes a value into that field. */
const thoughtSignature = (value: string): JsonObject => ({ extra_content: { google: { thought_signature: value } } });

/**
 * Writes a proof for a client. Every proof is wrapped: in the vendor's own interface the field is unknown, and only a
 * wrapped proof can be removed.
 */
export const encodeThoughtSignature = (proof: Proof): JsonObject => thoughtSignature(wrapProof(proof));

/** Writes the proof of a call or a text for the upstream that generated it. */
export const restoreThoughtSignature = (proof: Proof | undefined, origin: string): JsonObject =>
  proof === undefined || proof.origin !== origin ? {} : thoughtSignature(proof.blob);
