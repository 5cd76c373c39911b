import type { Change } from '../audit/change-author.ts';

/** The order that a user's content is deleted. */
export type ContentErasure = {
  readonly userId: string;
  readonly user: string;
  /** Content of calls before this moment is erased, and is not sent any more. */
  readonly beforeMs: number;
  readonly orderedAtMs: number;
  /** Objects in buckets and folders that gateways have not deleted yet. */
  readonly objectsLeft: number;
};

/** An object of a bucket or folder before it is written. */
export type NotedObject = {
  readonly place: string;
  readonly name: string;
  readonly userId: string;
  readonly user: string;
  /** The times of the first and the last call in it. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly records: number;
  readonly bytes: number;
  readonly nowMs: number;
};

/** The store that sinks of content need. All methods reject with the store's error. */
export type ContentStore = {
  /** Notes an object. False if an erasure covers it; then it must not be written. */
  readonly noteObject: (object: NotedObject) => Promise<boolean>;
  /** Confirms that an object was written. False if it was erased meanwhile; then it must be deleted. */
  readonly confirmObject: (object: { readonly place: string; readonly name: string }) => Promise<boolean>;
  /** Names of objects that were erased, or whose last call is before a moment. */
  readonly listRemovableObjects: (query: {
    readonly place: string;
    readonly beforeMs: number | undefined;
    readonly limit: number;
  }) => Promise<readonly string[]>;
  readonly forgetObjects: (objects: { readonly place: string; readonly names: readonly string[] }) => Promise<void>;
  /**
   * Orders that the content of a user's calls before a moment is deleted. Undefined if there is no such user. The order
   * is a row of the audit log.
   */
  readonly eraseContent: (
    order: { readonly userName: string; readonly beforeMs: number },
    change: Change,
  ) => Promise<ContentErasure | undefined>;
  /** All orders, newest first. */
  readonly listErasures: () => Promise<readonly ContentErasure[]>;
};
