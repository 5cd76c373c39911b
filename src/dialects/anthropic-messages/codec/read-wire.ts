/** A member that should be text; empty when it is not. Validation has seen to it in requests, nobody in replies. */
export function wireText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
