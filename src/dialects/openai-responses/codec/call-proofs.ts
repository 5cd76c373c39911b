import { readProof, unwrapProof, wrappedProofPrefix, wrapProof, type Proof } from '../../../inference/proof.ts';
import { vendorOrigin } from './vendor-origin.ts';

// Some vendors prove a call and not the reasoning before it. This dialect has no field for that, so such a proof is in
// a reasoning item of its own, behind the call, as `<wrapped proof>.<call id>`.

/** Writes the proof of a call as the encrypted content of a reasoning item. */
export function writeCallProof(proof: Proof, callId: string): string {
  return `${wrapProof(proof)}.${Buffer.from(callId).toString('base64url')}`;
}

/**
 * The proof in the encrypted content of a reasoning item, of the reasoning itself or of the call with this id.
 * Undefined for a damaged foreign proof.
 */
export function readItemProof(text: string): { readonly proof: Proof; readonly callId?: string } | undefined {
  if (!text.startsWith(wrappedProofPrefix)) return { proof: readProof(text, vendorOrigin) };
  const split = text.indexOf('.', wrappedProofPrefix.length);
  const proof = unwrapProof(split === -1 ? text : text.slice(0, split));
  if (proof === undefined) return undefined;
  return split === -1 ? { proof } : { proof, callId: Buffer.from(text.slice(split + 1), 'base64url').toString() };
}
