/**
 * An opaque value by which a vendor recognises its own reasoning: a thinking signature, encrypted reasoning, a thought
 * signature. Other vendors refuse it, so it returns unchanged to its origin and goes nowhere else.
 */
export type Proof = {
  /** The id of the vendor that made it, or of the upstream if its vendor is unknown. */
  readonly origin: string;
  readonly blob: string;
  /** True if the value contains the reasoning itself (redacted thinking) and is not a signature of visible text. */
  readonly hidden?: boolean;
};

/**
 * Marks a proof in a field of another dialect. Only base64url letters and a dot follow, which the fields of all
 * dialects accept; generate-content carries the base64 of the whole.
 */
export const wrappedProofPrefix = 'gw1.';

/** Packs a proof into a string for the field of another dialect. */
export function wrapProof(proof: Proof): string {
  const { origin, blob, hidden } = proof;
  return wrappedProofPrefix + Buffer.from(JSON.stringify(hidden === true ? [origin, blob, 1] : [origin, blob])).toString('base64url');
}

/** Unpacks a wrapped proof. Undefined for anything else: a native proof, or a damaged one. */
export function unwrapProof(text: string): Proof | undefined {
  if (!text.startsWith(wrappedProofPrefix)) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(text.slice(wrappedProofPrefix.length), 'base64url').toString());
    if (!Array.isArray(parts)) return undefined;
    const [origin, blob, hidden] = parts as readonly unknown[];
    if (typeof origin !== 'string' || typeof blob !== 'string') return undefined;
    return hidden === 1 ? { origin, blob, hidden: true } : { origin, blob };
  } catch {
    // A client shortened or changed it, so the proof is lost and the reasoning is treated as one without a proof.
    return undefined;
  }
}

/** Reads the proof field of a dialect. A wrapped proof names its origin; any other belongs to the dialect's vendor. */
export function readProof(text: string, vendorOrigin: string): Proof {
  return unwrapProof(text) ?? { origin: vendorOrigin, blob: text };
}

/** Writes the proof field of a dialect: the vendor's own proof unchanged, a foreign one wrapped. */
export function writeProof(proof: Proof, vendorOrigin: string): string {
  return proof.origin === vendorOrigin ? proof.blob : wrapProof(proof);
}
