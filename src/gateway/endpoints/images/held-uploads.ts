import type { StreamedBody } from '../../../platform/http/upstream-connection.ts';
import type { ReceivedUpload } from '../shared/receive-uploads.ts';
import type { SpooledUpload } from '../shared/upload-spool.ts';

/** The files of a form, which wait in the spool until neither their call nor an attempt that is being sent needs them. */
export class HeldUploads {
  readonly #uploads: readonly SpooledUpload[];
  #readers = 0;
  #isOver = false;

  constructor(files: readonly ReceivedUpload[]) {
    this.#uploads = files.map(({ upload }) => upload);
  }

  /** A file as attempts send it, each from its beginning. */
  bodyOf(upload: SpooledUpload): StreamedBody {
    return { bytes: upload.bytes, read: () => this.#read(upload) };
  }

  async *#read(upload: SpooledUpload): AsyncGenerator<Buffer> {
    this.#readers += 1;
    try {
      yield* upload.read();
    } finally {
      this.#readers -= 1;
      this.#discardUnneeded();
    }
  }

  /** The call needs them no longer. Harmless when repeated. */
  end(): void {
    this.#isOver = true;
    this.#discardUnneeded();
  }

  #discardUnneeded(): void {
    // A file without a name is gone when its handle is, and a handle that cannot be closed is the process's to lose.
    if (this.#isOver && this.#readers === 0) void Promise.allSettled(this.#uploads.map((upload) => upload.discard()));
  }
}
