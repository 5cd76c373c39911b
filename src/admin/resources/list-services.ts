import type { Cursors } from '../cursor.ts';

/** What every list needs. */
export type ListServices = { readonly cursors: Cursors };
