import type { Clock } from '../../platform/clock.ts';
import { sniffMediaType } from './extraction/sniff-media-type.ts';
import type { StoredFile } from './file-objects.ts';
import type { FilesStore } from './file-store.ts';
import type { PieceSealer } from './piece-sealer.ts';

/** The size of a sealed piece in bytes. */
export const pieceBytes = 1024 * 1024;

/** The name of a file, and how long it is stored. */
export type FileDescription = { readonly filename: string; readonly purpose: string; readonly expiresAfterMs?: number | undefined };

/** An upload in progress. Exactly one of `finish` and `discard` ends it. */
export type Upload = {
  /** Stores more of the content. @throws FileProblem `gone` if the upload was swept */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** @throws FileProblem `no-room` or `gone` */
  readonly finish: (description: FileDescription) => Promise<StoredFile>;
  readonly discard: () => Promise<void>;
};

export class FileProblem extends Error {
  readonly problem: 'no-room' | 'gone' | 'damaged';
  constructor(problem: FileProblem['problem'], message: string) {
    super(message);
    this.name = 'FileProblem';
    this.problem = problem;
  }
}

export type FileLibrary = {
  readonly upload: (userName: string) => Promise<Upload>;
  /** Reads the content in order, piece by piece. @throws FileProblem */
  readonly read: (file: Pick<StoredFile, 'id' | 'bytes'>) => AsyncGenerator<Buffer, void, void>;
  /** Reads the whole content, for callers that cannot read in pieces. @throws FileProblem */
  readonly readWhole: (file: Pick<StoredFile, 'id' | 'bytes'>) => Promise<Uint8Array<ArrayBuffer>>;
};

/** Bytes of a file from `start` to `end`, both included. */
type Range = { readonly start: number; readonly end: number };

/** Reads files in order, or a part of them; only the pieces of the part are read. @throws FileProblem */
export function createFileReader(store: Pick<FilesStore, 'readPiece'>, sealer: Pick<PieceSealer, 'open'>) {
  return async function* read(
    { id, bytes }: Pick<StoredFile, 'id' | 'bytes'>,
    { start, end }: Range = { start: 0, end: bytes - 1 },
  ): AsyncGenerator<Buffer, void, void> {
    for (let index = Math.floor(start / pieceBytes); index * pieceBytes <= Math.min(end, bytes - 1); index++) {
      const sealed = await store.readPiece({ fileId: id, index });
      if (sealed === undefined) throw new FileProblem('gone', `file ${id} was deleted while it was read`);
      const piece = sealer.open(id, index, sealed);
      if (piece === undefined) throw new FileProblem('damaged', `piece ${index} of file ${id} cannot be opened with this key`);
      yield piece.subarray(Math.max(0, start - index * pieceBytes), Math.min(pieceBytes, end + 1 - index * pieceBytes));
    }
  };
}

/** Stores the content of files in sealed pieces, so that no whole file is in memory unless a caller asks for it. */
export function createFileLibrary(options: {
  readonly store: FilesStore;
  readonly sealer: PieceSealer;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly userBytesMax: () => number;
}): FileLibrary {
  const read = createFileReader(options.store, options.sealer);
  return {
    upload: (userName) => beginUpload(options, userName),
    read,
    readWhole: async (file) => {
      const whole = new Uint8Array(file.bytes);
      let at = 0;
      for await (const piece of read(file)) {
        whole.set(piece, at);
        at += piece.length;
      }
      return whole;
    },
  };
}

async function beginUpload(options: Parameters<typeof createFileLibrary>[0], userName: string): Promise<Upload> {
  const { store, sealer, clock } = options;
  // Vendors' file ids have a hyphen at this position, and some clients check it.
  const fileId = options.newId('file').replace('_', '-');
  await store.beginUpload({ userName, fileId, startedAtMs: clock.nowMs() });
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let pieces = 0;
  let total = 0;
  let head: Buffer | undefined;

  const keep = async (piece: Buffer): Promise<void> => {
    head ??= piece;
    const isKept = await store.appendPiece({ fileId, index: pieces, sealed: sealer.seal(fileId, pieces, piece) });
    if (!isKept) throw new FileProblem('gone', 'the upload took too long and was cancelled');
    pieces += 1;
  };
  const keepAll = async (isEnd: boolean): Promise<void> => {
    let all = Buffer.concat(held);
    while (all.length >= pieceBytes || (isEnd && all.length > 0)) {
      await keep(all.subarray(0, pieceBytes));
      all = all.subarray(pieceBytes);
    }
    held = [all];
    heldBytes = all.length;
  };
  return {
    write: async (bytes) => {
      held.push(bytes);
      heldBytes += bytes.length;
      total += bytes.length;
      if (heldBytes >= pieceBytes) await keepAll(false);
    },
    finish: async ({ filename, purpose, expiresAfterMs }) => {
      await keepAll(true);
      const createdAtMs = clock.nowMs();
      const mediaType = sniffMediaType(head ?? new Uint8Array(), filename);
      const expiry = expiresAfterMs === undefined ? {} : { expiresAtMs: createdAtMs + expiresAfterMs };
      const file: StoredFile = { id: fileId, userName, filename, purpose, mediaType, bytes: total, createdAtMs, ...expiry };
      const isKept = await store.finishUpload(file, options.userBytesMax());
      if (isKept === 'no-room')
        throw new FileProblem('no-room', `your files may have at most ${options.userBytesMax()} bytes together; delete some files`);
      if (!isKept) throw new FileProblem('gone', 'the upload took too long and was cancelled');
      return file;
    },
    discard: () => store.discardUpload(fileId),
  };
}
