/** How a run ended: `died` when the interpreter did not survive it, `stopped` when the call was over before. */
export type RunEnding = 'finished' | 'raised' | 'timed-out' | 'died' | 'stopped';

/** What one run brought. Texts are cut at the limit of output. */
export type RunReport = {
  readonly ending: RunEnding;
  readonly stdout: string;
  readonly stderr: string;
  /** The value of the last expression, or the traceback. */
  readonly text: string;
  /** Whether there was more output than is here. */
  readonly truncated: boolean;
};

/** Gathers what a run says, never more than the limit, whatever the sandbox sends. */
export class RunRecord {
  readonly run: number;
  #left: number;
  #texts = { stdout: '', stderr: '' };
  #truncated = false;

  constructor(run: number, outputBytesMax: number) {
    this.run = run;
    this.#left = outputBytesMax;
  }

  add(stream: 'stdout' | 'stderr', text: string): void {
    this.#texts[stream] += this.#take(text);
  }

  report(ending: RunEnding, text = '', dropped = 0): RunReport {
    const taken = this.#take(text);
    return { ending, ...this.#texts, text: taken, truncated: this.#truncated || dropped > 0 };
  }

  #take(text: string): string {
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.#left) {
      this.#left -= bytes;
      return text;
    }
    this.#truncated = true;
    const kept = Buffer.from(text)
      .subarray(0, this.#left)
      .toString('utf8')
      .replace(/\uFFFD+$/, '');
    this.#left = 0;
    return kept;
  }
}
