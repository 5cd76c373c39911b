/** How a run ended. `died`: the interpreter crashed. `stopped`: the call was over first. */
export type RunEnding = 'finished' | 'raised' | 'timed-out' | 'died' | 'stopped';

/** The result of one run. Texts are cut at the output limit. */
export type RunReport = {
  readonly ending: RunEnding;
  readonly stdout: string;
  readonly stderr: string;
  /** The value of the last expression, or the traceback. */
  readonly text: string;
  /** Whether output was left out. */
  readonly truncated: boolean;
};

/** Collects the output of a run, never more than the limit, whatever the sandbox sends. */
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
    const fitting = this.#take(text);
    return { ending, ...this.#texts, text: fitting, truncated: this.#truncated || dropped > 0 };
  }

  #take(text: string): string {
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.#left) {
      this.#left -= bytes;
      return text;
    }
    this.#truncated = true;
    const fitting = Buffer.from(text)
      .subarray(0, this.#left)
      .toString('utf8')
      .replace(/\uFFFD+$/, '');
    this.#left = 0;
    return fitting;
  }
}
