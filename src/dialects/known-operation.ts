import type { Operation } from './dialect-id.ts';

/** The operations of interfaces in which a conversation cannot be compacted. */
export type KnownOperation = Exclude<Operation, 'compact'>;

/** The operation in such an interface: no route of it asks for anything else. */
export function knownOperation(operation: Operation): KnownOperation {
  return operation === 'count-tokens' ? operation : 'generate';
}
