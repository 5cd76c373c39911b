import type { AudioContainer } from '../../../dialects/openai-audio/sniff-audio.ts';
import { estimateAudioMs, longestAudioMs, type SoundLength } from './measure-sound.ts';
import type { SpooledUpload } from '../shared/upload-spool.ts';

/** How long a recording is, found out within the signal. Never rejects. */
export type MeasureLength = (signal: AbortSignal) => Promise<SoundLength>;

/** Waiting for a thread included. */
const measureMsMax = 10_000;
/** Vendors bill ten seconds at least, some of them, and round up. */
const measuredSlackMs = 15_000;
/** A call that takes longer is one of a model at work, in whose time a file can be read without anybody waiting for it. */
const quickMs = 250;

/** How long the recording of a call is: by its size until it has been measured, which is done once for all attempts and only where somebody needs it. */
export class LengthOfSound {
  readonly #upload: SpooledUpload;
  readonly #measure: MeasureLength;
  #known: SoundLength;
  #measuring: Promise<SoundLength> | undefined;
  #learning: Promise<void> | undefined;

  constructor(upload: SpooledUpload, container: AudioContainer, measure: MeasureLength) {
    this.#upload = upload;
    this.#measure = measure;
    this.#known = { audioMs: estimateAudioMs(upload.bytes, container), measured: false };
  }

  /** What is known at the moment. */
  get known(): SoundLength {
    return this.#known;
  }

  /** No recording of its size is longer; of one that was measured, what that came to and what vendors add. */
  longestMs(): number {
    const { audioMs, measured } = this.#known;
    return measured ? audioMs + measuredSlackMs : longestAudioMs(this.#upload.bytes);
  }

  /** Never rejects. Not by the call's signal: a client that leaves has to pay what it used. */
  measure(): Promise<SoundLength> {
    this.#measuring ??= this.#measure(AbortSignal.timeout(measureMsMax)).then((length) => (this.#known = length));
    return this.#measuring;
  }

  /** Measures it too, unless the call ends at once. Resolves when it is measured, or will not be. Never rejects. */
  measureUnlessQuick(): Promise<void> {
    this.#learning ??= new Promise((resolve) => {
      setTimeout(() => {
        if (this.#upload.isDiscarded) resolve();
        else void this.measure().then(() => resolve());
      }, quickMs).unref();
    });
    return this.#learning;
  }
}
