import { type Proof, readProof, unwrapProof, wrapProof, wrappedProofPrefix, writeProof } from '../../../inference/proof.ts';
import { vendorOrigin } from './vendor-origin.ts';

/** Marks reasoning without a proof, because clients drop thinking blocks without a signature. */
const unproven: Proof = { origin: '', blob: '' };

/** Separates the origin of a call's proof from the id of the call, in a thinking block that carries it. */
const callMark = ' call:';

/**
 * Writes `signature` or `data`. It is never empty: reasoning without a proof gets a mark that `readSignature` removes.
 */
export function writeSignature(proof: Proof | undefined): string {
  return writeProof(proof ?? unproven, vendorOrigin);
}

/** Reads `signature` or `data` of a client or upstream. Undefined if there is no proof, or a damaged one. */
export function readSignature(text: unknown, origin: string = vendorOrigin): Proof | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  if (isForeignSignature(text) && unwrapProof(text) === undefined) return undefined;
  const proof = readProof(text, origin);
  return proof.origin === '' ? undefined : proof;
}

/** Whether a gateway wrote a signature, which the vendor cannot read. */
export function isForeignSignature(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(wrappedProofPrefix);
}

/**
 * Writes the proof of a tool call. `tool_use` has no field for it, so it is carried in a thinking block without text.
 */
export function writeCallProof(callId: string, proof: Proof): string {
  return wrapProof({ ...proof, origin: `${proof.origin}${callMark}${callId}` });
}

/** Reads the output of `writeCallProof`. Undefined for the proof of reasoning. */
export function readCallProof(proof: Proof | undefined): { readonly callId: string; readonly proof: Proof } | undefined {
  const at = proof?.origin.indexOf(callMark) ?? -1;
  if (proof === undefined || at < 0) return undefined;
  return { callId: proof.origin.slice(at + callMark.length), proof: { ...proof, origin: proof.origin.slice(0, at) } };
}
