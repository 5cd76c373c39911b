import { type StreamEnding, describeEnding, progressIntervalMs, warnOfMalformed } from './stream-parts.ts';
import type { AnyExchange } from './exchange-context.ts';
import type { StreamRelay } from './reply-relay.ts';

/** Reports the progress of a stream to the observer of its exchange, at most every `progressIntervalMs`. */
export class StreamBooks {
  readonly #context: Pick<AnyExchange, 'observer' | 'logger' | 'requestId' | 'target' | 'chunkGaps'>;
  readonly #stream: Pick<StreamRelay<unknown>, 'report' | 'broke'>;
  #hasContent = false;
  #lastProgressMs = 0;

  constructor(context: AnyExchange, stream: StreamRelay<unknown>) {
    this.#context = context;
    this.#stream = stream;
  }

  /** More has come, so long after what came before. */
  heard(gapMs: number): void {
    if (this.#hasContent) this.#context.chunkGaps?.observe(gapMs / 1000);
  }

  /** The first content is about to be handed on. Only the first call is reported. */
  firstContent(): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#context.observer.firstContent();
  }

  /** Whether a running stream has something to report: its first content, or progress that is due. */
  isDue(nowMs: number): boolean {
    return !this.#hasContent || nowMs - this.#lastProgressMs >= progressIntervalMs;
  }

  tellProgress(nowMs: number): void {
    if (nowMs - this.#lastProgressMs < progressIntervalMs) return;
    this.#lastProgressMs = nowMs;
    this.#context.observer.progress(this.#stream.report());
  }

  /** The stream has ended. @param hasBegun whether its client saw it begin */
  settle(ending: StreamEnding, hasBegun: boolean): void {
    const report = this.#stream.report();
    if (report.malformedFrames > 0) warnOfMalformed(this.#context, report);
    if (ending.error !== undefined && hasBegun) this.#stream.broke?.(ending.error);
    this.#context.observer.settled(describeEnding(ending, report));
  }
}
