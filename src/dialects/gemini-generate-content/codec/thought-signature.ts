import { unwrapProof, wrappedProofPrefix, wrapProof, type Proof } from '../../../inference/proof.ts';
import { textOf, textsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { vendorOrigin } from './vendor-origin.ts';

/**
 * The vendor's documented substitute for calls that none of its models made. Source: the vendor's guide to thought
 * signatures.
 */
export const dummySignature = 'skip_thought_signature_validator';
const dummySignatures: ReadonlySet<string> = new Set([dummySignature, 'context_engineering_is_the_way_to_go']);

/** The beginning of the base64 of a wrapped proof. */
export const wrappedSignaturePrefix = Buffer.from(wrappedProofPrefix).toString('base64').slice(0, 5);

/** Longer thoughts are not carried inside their signature, because a client would have to return twice as much. */
const carriedCharactersMax = 65_536;

/** Reasoning of another vendor, carried through this dialect. Clients keep signatures and often drop thoughts. */
export type CarriedReasoning = {
  readonly proof: Proof;
  /** The paragraphs of the thoughts, if they are carried. */
  readonly text?: readonly string[];
  readonly itemId?: string;
};

type ReadSignature =
  /** A proof of its own part: the vendor's, or that of another vendor that proves texts and calls. */
  | { readonly kind: 'part'; readonly proof: Proof }
  /** A proof of the reasoning before that part. */
  | { readonly kind: 'reasoning'; readonly reasoning: CarriedReasoning };

/** Whether a signature contains a proof of another vendor, damaged or not. */
export const isForeignSignature = (signature: string): boolean => signature.startsWith(wrappedSignaturePrefix);

/** Reads a `thoughtSignature`. Undefined for none, for the substitutes and for a damaged foreign proof. */
export function readSignature(value: unknown): ReadSignature | undefined {
  if (typeof value !== 'string' || value === '' || dummySignatures.has(value)) return undefined;
  if (!isForeignSignature(value)) return { kind: 'part', proof: { origin: vendorOrigin, blob: value } };
  const wrapped = Buffer.from(value, 'base64').toString();
  const split = wrapped.indexOf('.', wrappedProofPrefix.length);
  const proof = unwrapProof(split === -1 ? wrapped : wrapped.slice(0, split));
  if (proof === undefined) return undefined;
  const carried = split === -1 ? {} : readCarried(wrapped.slice(split + 1));
  if (carried.part === true) return { kind: 'part', proof };
  const text = Array.isArray(carried.text) ? textsOf(carried.text) : undefined;
  const itemId = textOf(carried.id);
  const reasoning = { proof, ...(text === undefined ? {} : { text }), ...(itemId === undefined ? {} : { itemId }) };
  return { kind: 'reasoning', reasoning };
}

/**
 * Reads the additional content of a signature. A client that shortened it has lost the thoughts; the proof may be
 * intact.
 */
const readCarried = (packed: string): JsonObject => parseJsonObject(Buffer.from(packed, 'base64url')) ?? {};

/** Writes base64 of a wrapped proof with its additional content. */
function wrapWith(proof: Proof, carried: JsonObject): string {
  const rest = Object.keys(carried).length === 0 ? '' : `.${Buffer.from(JSON.stringify(carried)).toString('base64url')}`;
  return Buffer.from(wrapProof(proof) + rest).toString('base64');
}

/** Writes the signature of a text or a call that has its own proof. */
export function writePartSignature(proof: Proof): string {
  return proof.origin === vendorOrigin ? proof.blob : wrapWith(proof, { part: true });
}

/**
 * Writes the signature of reasoning. The vendor's own is unchanged; another's is wrapped with the thoughts that it
 * signs.
 */
export function writeSignature({ proof, text = [], itemId }: CarriedReasoning): string {
  if (proof.origin === vendorOrigin) return proof.blob;
  const characters = text.reduce((sum, paragraph) => sum + paragraph.length, 0);
  const isCarried = characters > 0 && characters <= carriedCharactersMax;
  return wrapWith(proof, { ...(isCarried ? { text } : {}), ...(itemId === undefined ? {} : { id: itemId }) });
}
