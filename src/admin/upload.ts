/** A file that a client sends, on the disk of this process until it is discarded. */
export type SpooledFile = {
  readonly bytes: number;
  /** Appends bytes; rejects if there is no room for them. */
  readonly write: (chunk: Buffer) => Promise<void>;
  /** The bytes from `start` to before `end`. */
  readonly readAt: (start: number, end: number) => Promise<Buffer>;
  readonly discard: () => Promise<void>;
};

/** Where uploads wait until they are read. Nothing of them remains, however the process ends. */
export type Spool = { readonly begin: () => SpooledFile };

/** The file of a request with `multipart/form-data`. The fields of the form are the body of the request. */
export type Upload = {
  /** As the client named it, without folders. */
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 in hexadecimal digits. */
  readonly sha256: string;
  readonly readAt: SpooledFile['readAt'];
};

/** The largest file of an upload. */
export const uploadBytesMax = 64 * 1024 * 1024;
