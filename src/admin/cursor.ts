import { createHmac, timingSafeEqual } from 'node:crypto';

import { AdminProblem } from './problem.ts';

/** Makes and reads the cursors of lists. */
export type Cursors = {
  /**
   * A text that only this database's servers can make.
   * @param question what the list was asked for: a cursor only goes on with the same question
   * @param position where the next page begins, as JSON data
   */
  readonly write: (question: unknown, position: unknown) => string;
  /** The position. @throws AdminProblem `cursor_mismatch` if the cursor is not one of ours, or of another question */
  readonly read: (question: unknown, cursor: string) => unknown;
};

const tagBytes = 16;

/** @param key a key from deriveKey for this purpose only, the same in all processes */
export function createCursors(key: Uint8Array): Cursors {
  const tag = (question: unknown, position: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([question, position]))
      .digest()
      .subarray(0, tagBytes);
  return {
    write: (question, position) => {
      const text = JSON.stringify(position);
      return Buffer.concat([tag(question, text), Buffer.from(text)]).toString('base64url');
    },
    read: (question, cursor) => {
      const bytes = Buffer.from(cursor, 'base64url');
      const text = bytes.subarray(tagBytes).toString('utf8');
      if (bytes.length > tagBytes && timingSafeEqual(bytes.subarray(0, tagBytes), tag(question, text))) return JSON.parse(text) as unknown;
      throw new AdminProblem('cursor_mismatch', 'The cursor was made for another question, or was changed; begin without a cursor.');
    },
  };
}
