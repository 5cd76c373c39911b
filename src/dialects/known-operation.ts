import type { Operation } from './dialect-id.ts';

/** The operations of interfaces that cannot compact a conversation. */
export type KnownOperation = Exclude<Operation, 'compact'>;

/** Narrows an operation for such an interface: none of its routes can have the excluded one. */
export function knownOperation(operation: Operation): KnownOperation {
  return operation === 'count-tokens' ? operation : 'generate';
}
