import { hash } from 'node:crypto';

const mark = Buffer.from('simulated-thought:');
/** The dummy signatures that the vendor's documentation defines for history from elsewhere. */
const dummies = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'];

/** Signature of a simulated thought, base64: recognizable, and different for different thoughts. */
export function signThought(text: string): string {
  return Buffer.concat([mark, hash('sha256', text, 'buffer')]).toString('base64');
}

/** True for a signature of this simulator, whole and unchanged, and for the vendor's documented dummies. */
export function isThoughtSignature(signature: string): boolean {
  if (dummies.includes(signature)) return true;
  const bytes = Buffer.from(signature, 'base64');
  return bytes.length === mark.length + 32 && bytes.subarray(0, mark.length).equals(mark);
}
