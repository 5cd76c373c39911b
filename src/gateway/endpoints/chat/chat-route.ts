import type { DialectId, Operation } from '../../../dialects/dialect-id.ts';

/** What the paths of chats mean. */
export type ChatRoute =
  | { readonly type: 'chat'; readonly dialect: DialectId; readonly operation: Operation }
  /** Generate-content keeps model and action in the rest of the path. */
  | { readonly type: 'generate-content' };
