/**
 * An opaque value by which a vendor recognises its own reasoning: a thinking signature, encrypted reasoning, a thought signature. It is
 * worthless and refused elsewhere, so it goes back byte for byte to its origin and nowhere else.
 */
export type Proof = {
  /** Who made it: the id of a vendor, or of an upstream whose vendor is unknown. */
  readonly origin: string;
  readonly blob: string;
  /** True when the blob is the reasoning itself, hidden (redacted thinking), and not a signature of visible text. */
  readonly hidden?: boolean;
};

/**
 * Marks a proof that travels in a foreign dialect's field. Only base64url letters and a dot follow, which every dialect's field admits;
 * generate-content carries it as base64 of the whole.
 */
export const wrappedProofPrefix = 'gw1.';

/** Packs a proof into one string, for the field of another dialect. */
export function wrapProof(proof: Proof): string {
  const { origin, blob, hidden } = proof;
  return wrappedProofPrefix + Buffer.from(JSON.stringify(hidden === true ? [origin, blob, 1] : [origin, blob])).toString('base64url');
}

/** Takes a wrapped proof apart. Undefined for anything else: a native proof, or damage. */
export function unwrapProof(text: string): Proof | undefined {
  if (!text.startsWith(wrappedProofPrefix)) return undefined;
  try {
    const parts: unknown = JSON.parse(Buffer.from(text.slice(wrappedProofPrefix.length), 'base64url').toString());
    if (!Array.isArray(parts)) return undefined;
    const [origin, blob, hidden] = parts as readonly unknown[];
    if (typeof origin !== 'string' || typeof blob !== 'string') return undefined;
    return hidden === 1 ? { origin, blob, hidden: true } : { origin, blob };
  } catch {
    // A client that shortened or rewrote it has lost it: the reasoning is then left out as one without a proof.
    return undefined;
  }
}

/** Reads a dialect's proof field: a wrapped proof is of whom it names, anything else of the dialect's own vendor. */
export function readProof(text: string, vendorOrigin: string): Proof {
  return unwrapProof(text) ?? { origin: vendorOrigin, blob: text };
}

/** Writes a dialect's proof field: the vendor's own as it is, a foreign one wrapped. */
export function writeProof(proof: Proof, vendorOrigin: string): string {
  return proof.origin === vendorOrigin ? proof.blob : wrapProof(proof);
}
