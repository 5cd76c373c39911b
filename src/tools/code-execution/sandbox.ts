import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

import { type ChildMessage, readChildMessage } from './read-child-message.ts';
import { RunRecord, type RunReport } from './run-report.ts';
import type { SandboxLimits, SealedCommand } from './seal-command.ts';

/** The time limit from the start of a sandbox until Python is ready, on a busy machine too. */
const startMs = 60_000;
/** The maximum of bytes of one message for this limit of output: JSON writes some characters as six bytes. */
const messageBytesMax = (outputBytesMax: number): number => 8 * outputBytesMax + 65_536;

export type SandboxOptions = {
  /** The command that starts the process. */
  readonly command: SealedCommand;
  readonly limits: SandboxLimits;
  /** An open file that becomes descriptor 3 of the process: the snapshot of an interpreter that has run no code. */
  readonly snapshot: number | undefined;
};

type Pending = { readonly record: RunRecord; readonly settle: (report: RunReport) => void };

/**
 * A Python interpreter in a sealed process, for one request. Its variables last from run to run. It is treated as
 * hostile: its messages are bounded and checked, and it is killed if it is silent for too long or sends too much.
 */
export class Sandbox {
  /** Resolves when Python is ready. Rejects if the process ends first. */
  readonly ready: Promise<void>;
  /** Resolves when the process and its descriptors are closed. */
  readonly ended: Promise<void>;
  readonly #limits: SandboxLimits;
  readonly #child: ChildProcess;
  readonly #stdin: Writable;
  readonly #ready = Promise.withResolvers<void>();
  #pending: Pending | undefined;
  #runs = 0;
  #alive = true;
  #line = '';
  #bytesLeft: number;

  constructor({ command, limits, snapshot }: SandboxOptions) {
    this.#limits = limits;
    this.#bytesLeft = messageBytesMax(limits.outputBytesMax);
    const stdio = ['pipe', 'pipe', 'ignore', ...(snapshot === undefined ? [] : [snapshot])] as const;
    this.#child = spawn(command.program, command.args, { env: {}, cwd: '/', stdio: [...stdio] });
    const { stdin, stdout } = this.#child;
    if (stdin === null || stdout === null) throw new Error('A child process without its channel.');
    this.#stdin = stdin;
    // If a child dies during a write, its end is handled elsewhere.
    stdin.on('error', () => this.close());
    this.#listen(stdout);
    this.ended = new Promise((resolve) => {
      this.#child.once('error', () => this.close());
      this.#child.once('close', () => {
        this.#die();
        resolve();
      });
    });
    const timer = setTimeout(() => this.close(), startMs);
    this.ready = this.#ready.promise.finally(() => clearTimeout(timer));
    // Callers that wait receive the error; a waiting sandbox without a caller may die silently.
    this.ready.catch(() => undefined);
  }

  /** Whether it can run code. */
  get isAlive(): boolean {
    return this.#alive;
  }

  /** The id of the outermost process, for tests and statistics. */
  get processId(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Runs a piece of code for at most the time limit. Afterwards the sandbox is dead, unless the run `finished` or
   * `raised` and left it intact. One run at a time.
   */
  async run(code: string, signal: AbortSignal): Promise<RunReport> {
    this.#runs += 1;
    const record = new RunRecord(this.#runs, this.#limits.outputBytesMax);
    if (!this.#alive) return record.report('died');
    if (signal.aborted) {
      this.close();
      return record.report('stopped');
    }
    const { promise, resolve } = Promise.withResolvers<RunReport>();
    const kill = (ending: 'timed-out' | 'stopped'): void => {
      resolve(record.report(ending));
      this.close();
    };
    const stop = (): void => kill('stopped');
    const timer = setTimeout(() => kill('timed-out'), this.#limits.timeoutMs);
    signal.addEventListener('abort', stop, { once: true });
    this.#pending = { record, settle: resolve };
    this.#bytesLeft = messageBytesMax(this.#limits.outputBytesMax);
    this.#stdin.write(`${JSON.stringify({ run: this.#runs, code: code.toWellFormed() })}\n`);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      this.#pending = undefined;
    }
  }

  /** Kills it. The current run is lost. */
  close(): void {
    this.#die();
    this.#child.kill('SIGKILL');
    this.#stdin.destroy();
    this.#child.stdout?.destroy();
  }

  #die(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#line = '';
    this.#ready.reject(new Error('The sandbox ended before it was ready.'));
    this.#pending?.settle(this.#pending.record.report('died'));
  }

  #listen(stdout: Readable): void {
    stdout.setEncoding('utf8');
    stdout.on('error', () => this.close());
    stdout.on('data', (text: string) => {
      // Counted before anything is stored: a flood ends the sandbox, not the gateway.
      this.#bytesLeft -= text.length;
      if (this.#bytesLeft < 0) return this.close();
      const lines = (this.#line + text).split('\n');
      this.#line = lines.pop() ?? '';
      for (const line of lines) {
        const message = readChildMessage(line);
        if (message === undefined) return this.close();
        this.#hear(message);
      }
    });
  }

  #hear(message: ChildMessage): void {
    if (message.kind === 'ready') return this.#ready.resolve();
    const pending = this.#pending;
    // Output from tasks of an earlier run is dropped.
    if (pending === undefined || message.run !== pending.record.run) return;
    if (message.kind === 'output') return pending.record.add(message.stream, message.text);
    pending.settle(pending.record.report(message.outcome, message.text, message.dropped));
    // The next run must not use a broken interpreter.
    if (message.broken) this.close();
  }
}
