import type { Change, ChangeAuthor } from '../change-author.ts';

/** The author of the changes of tests. */
export const testAuthor: ChangeAuthor = { actor: 'cli:test', via: 'cli' };

/** A change of a test at a time in Unix milliseconds. */
export const changeAt = (atMs = 0): Change => ({ ...testAuthor, atMs });
