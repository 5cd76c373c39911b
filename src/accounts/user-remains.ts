/** How many things of a user were deleted that expire by themselves otherwise. */
type ErasedRemains = {
  /** Messages about finished work, also those that were not delivered yet. */
  readonly callbacks: number;
  /** Replies that were kept for repeated requests. */
  readonly keptReplies: number;
  /** Images with links. They are not served any more; the next sweep of a gateway deletes their files. */
  readonly images: number;
};

/** The store of what requests of a user left behind. */
export type UserRemainsStore = {
  /**
   * Deletes callbacks, kept replies and images of a user. The books do not refer to them. Requests under way keep
   * theirs, so this can run again. Rejects with the store's error.
   */
  readonly eraseRemains: (userName: string) => Promise<ErasedRemains>;
};
