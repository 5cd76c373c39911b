import type { AudioContainer } from '../../../dialects/openai-audio/sniff-audio.ts';
import { estimateAudioMs, longestAudioMs, type AudioDuration } from './measure-audio.ts';
import type { SpooledUpload } from '../shared/upload-spool.ts';

/** Measures a recording until the signal aborts. Never rejects. */
export type MeasureDuration = (signal: AbortSignal) => Promise<AudioDuration>;

/** Includes the wait for a thread. */
const measureMsMax = 10_000;
/** Some vendors bill at least ten seconds, and vendors round up. */
const measuredSlackMs = 15_000;
/** After this time the model is at work, so measuring the file delays nothing. */
const quickMs = 250;

/**
 * The duration of a call's recording. It is estimated from the size until it is measured: once for all attempts, and
 * only if it is needed.
 */
export class AudioDurationReader {
  readonly #upload: SpooledUpload;
  readonly #measure: MeasureDuration;
  #current: AudioDuration;
  #measuring: Promise<AudioDuration> | undefined;
  #learning: Promise<void> | undefined;

  constructor(upload: SpooledUpload, container: AudioContainer, measure: MeasureDuration) {
    this.#upload = upload;
    this.#measure = measure;
    this.#current = { audioMs: estimateAudioMs(upload.bytes, container), measured: false };
  }

  /** The duration, measured or estimated. */
  get current(): AudioDuration {
    return this.#current;
  }

  /**
   * The upper bound: the measured duration and what vendors add, otherwise that of the longest recording of this size.
   */
  longestMs(): number {
    const { audioMs, measured } = this.#current;
    return measured ? audioMs + measuredSlackMs : longestAudioMs(this.#upload.bytes);
  }

  /** Never rejects. It ignores the signal of the call, because a client that leaves pays for its usage. */
  measure(): Promise<AudioDuration> {
    this.#measuring ??= this.#measure(AbortSignal.timeout(measureMsMax)).then((length) => (this.#current = length));
    return this.#measuring;
  }

  /** Measures it unless the call ends at once. Resolves when it is measured, or will not be. Never rejects. */
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
