import { type Proof, readProof, unwrapProof, wrapProof, wrappedProofPrefix, writeProof } from '../../../inference/proof.ts';
import { vendorOrigin } from './vendor-origin.ts';

/** Stands for reasoning that came without a proof: clients throw away thinking blocks that have no signature. */
const unproven: Proof = { origin: '', blob: '' };

/** Stands between the origin of a call's proof and the id of the call, in a thinking block that carries it. */
const callMark = ' call:';

/** Writes `signature` or `data`. Never empty: reasoning without a proof gets a mark that `readSignature` takes off again. */
export function writeSignature(proof: Proof | undefined): string {
  return writeProof(proof ?? unproven, vendorOrigin);
}

/**
 * Reads `signature` or `data` as a client or upstream wrote it; undefined where there is no proof, or only what is left of a damaged one.
 */
export function readSignature(text: unknown, origin: string = vendorOrigin): Proof | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  if (isForeignSignature(text) && unwrapProof(text) === undefined) return undefined;
  const proof = readProof(text, origin);
  return proof.origin === '' ? undefined : proof;
}

/** Whether a signature was written by a gateway and means nothing to the vendor. */
export function isForeignSignature(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(wrappedProofPrefix);
}

/** A proof that stands on a tool call, for which this dialect's `tool_use` has no field: it travels in a thinking block without text. */
export function writeCallProof(callId: string, proof: Proof): string {
  return wrapProof({ ...proof, origin: `${proof.origin}${callMark}${callId}` });
}

/** Takes apart what `writeCallProof` wrote; undefined for the proof of reasoning. */
export function readCallProof(proof: Proof | undefined): { readonly callId: string; readonly proof: Proof } | undefined {
  const at = proof?.origin.indexOf(callMark) ?? -1;
  if (proof === undefined || at < 0) return undefined;
  return { callId: proof.origin.slice(at + callMark.length), proof: { ...proof, origin: proof.origin.slice(0, at) } };
}
