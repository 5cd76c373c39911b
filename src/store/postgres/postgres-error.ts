import { DatabaseError } from 'pg';
import { StoreError } from '../store-error.ts';
import type { StoreErrorKind } from '../store-error.ts';

/** The transaction collided with another one and changed nothing: it can run again unchanged. */
export class CollisionError extends StoreError {}

/**
 * Codes of PostgreSQL, https://www.postgresql.org/docs/15/errcodes-appendix.html, read 2026-11; two characters stand
 * for a whole class.
 */
const kindsByCode: Readonly<Record<string, StoreErrorKind>> = {
  '08': 'unavailable',
  '22': 'constraint',
  '23': 'constraint',
  '25006': 'read-only',
  // The server ended a transaction that had no statement for too long, and with it the connection.
  '25P03': 'unavailable',
  '28': 'unavailable',
  '3D': 'unavailable',
  '40': 'busy',
  '42501': 'read-only',
  '53': 'unavailable',
  '53100': 'disk',
  '54': 'constraint',
  '55P03': 'busy',
  '57': 'unavailable',
  '58': 'disk',
  P0001: 'constraint',
  XX001: 'corrupt',
  XX002: 'corrupt',
};

/** serialization_failure, deadlock_detected. */
const collisions = new Set(['40001', '40P01']);

/**
 * Converts an error of the driver. An error that is not an answer of the server is a lost connection; whether the
 * statement took effect is then unknown.
 */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (!(error instanceof Error)) return new StoreError('internal', 'The database threw a value that is not an Error.', { cause: error });
  if (!(error instanceof DatabaseError))
    return new StoreError('unavailable', `PostgreSQL cannot be reached: ${error.message}`, { cause: error });
  const code = error.code ?? '';
  // The server quotes values in messages about data that it cannot parse. The messages of triggers are ours.
  const about = code.startsWith('22') ? 'a value does not fit its column' : error.message;
  const message = `PostgreSQL refused a statement (${code}): ${about}`;
  if (collisions.has(code)) return new CollisionError('busy', message, { cause: error });
  return new StoreError(kindsByCode[code] ?? kindsByCode[code.slice(0, 2)] ?? 'internal', message);
}

/** Whether a connection must not be used again after an error. */
export function isConnectionLost(error: unknown): boolean {
  return !(error instanceof StoreError) || error.kind === 'unavailable' || error.kind === 'internal';
}
