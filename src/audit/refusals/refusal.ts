/** A request that the gateway refused. It has no content of the request, and no secret. */
export type Refusal = {
  readonly atMs: number;
  /** The code and status of the error, and the sentence that the client got, without the client's values. */
  readonly code: string;
  readonly status: number;
  readonly message: string;
  /** The caller; undefined if the request had no valid key. */
  readonly keyId?: string | undefined;
  readonly userName?: string | undefined;
  readonly keyName?: string | undefined;
  readonly address?: string | undefined;
  /** The interface that the client spoke, and the path without its query and the client's values. */
  readonly interface: string;
  readonly path: string;
  readonly requestId: string;
  /** The requested model, if the gateway serves it. */
  readonly model?: string | undefined;
};

export type ListedRefusal = Refusal & { readonly sequence: number };

/** Which refusals a list has. */
export type RefusalFilter = {
  /** The users whose refusals may be seen: all, or the names of some. Only `all` sees requests without a valid key. */
  readonly users: 'all' | readonly string[];
  readonly userName?: string;
  readonly keyId?: string;
  readonly code?: string;
  readonly status?: number;
  readonly requestId?: string;
  /** From this moment on. */
  readonly fromMs?: number;
  /** Before this moment. */
  readonly toMs?: number;
  /** The page begins after the refusal with this sequence. */
  readonly before?: number;
  /** The most refusals to return, at least 1. */
  readonly limit: number;
};

export type RefusalStore = {
  readonly addRefusals: (refusals: readonly Refusal[]) => Promise<void>;
  /** One page, newest first. */
  readonly listRefusals: (filter: RefusalFilter) => Promise<readonly ListedRefusal[]>;
  /**
   * Deletes refusals from before a moment, and the oldest beyond `rowsMax`. Deletes at most `atOnce`, and returns how
   * many.
   */
  readonly sweepRefusals: (bounds: { readonly beforeMs: number; readonly rowsMax: number; readonly atOnce: number }) => Promise<number>;
};
