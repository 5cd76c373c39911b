import type { StreamedBody } from '../../../platform/http/upstream-connection.ts';
import type { ReceivedUpload } from '../shared/receive-uploads.ts';
import type { SpooledUpload } from '../shared/upload-spool.ts';

/** The files of a form. They stay in the spool while their call or an attempt needs them. */
export class HeldUploads {
  readonly #uploads: readonly SpooledUpload[];
  #readers = 0;
  #isOver = false;

  constructor(files: readonly ReceivedUpload[]) {
    this.#uploads = files.map(({ upload }) => upload);
  }

  /** A file as a body; each attempt reads it from the start. */
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

  /** Releases them for the call. Repeated calls do nothing. */
  end(): void {
    this.#isOver = true;
    this.#discardUnneeded();
  }

  #discardUnneeded(): void {
    // The file has no name, so it disappears with its handle. If closing fails, the process keeps one handle.
    if (this.#isOver && this.#readers === 0) void Promise.allSettled(this.#uploads.map((upload) => upload.discard()));
  }
}
