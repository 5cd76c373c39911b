import { hash } from 'node:crypto';

/**
 * Signature of a simulated reasoning text, base64. It depends on the text alone, so that any simulator recognises
 * reasoning that a client returns unchanged, as the vendors do.
 */
export function signReasoning(text: string): string {
  const first = hash('sha512', `weir-simulator reasoning\n${text}`, 'buffer');
  const second = hash('sha256', first, 'buffer');
  return Buffer.concat([first, second]).toString('base64');
}
