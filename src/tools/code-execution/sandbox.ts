import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

import { type ChildMessage, readChildMessage } from './read-child-message.ts';
import { RunRecord, type RunReport } from './run-report.ts';
import type { SandboxLimits, SealedCommand } from './seal-command.ts';

/** Longest time from the start of a sandbox until Python is ready, also on a machine that is busy. */
const startMs = 60_000;
/** Bytes of one message beyond the output it carries: JSON writes some characters as six. */
const messageBytesMax = (outputBytesMax: number): number => 8 * outputBytesMax + 65_536;

export type SandboxOptions = {
  /** What starts the process that serves runs. */
  readonly command: SealedCommand;
  readonly limits: SandboxLimits;
  /** An open file that the process has as descriptor 3: the memory of an interpreter that has run nothing yet. */
  readonly snapshot: number | undefined;
};

type Pending = { readonly record: RunRecord; readonly settle: (report: RunReport) => void };

/**
 * A Python interpreter in a sealed process, for one request. Its variables last from run to run. It is held for hostile: what it says is
 * bounded and checked, and it is killed when it is silent too long or says too much.
 */
export class Sandbox {
  /** Resolves when Python is ready; rejects when the process ends before. */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone, with its descriptors. */
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
    // A child that dies while it is written to is seen by its end.
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
    // Whoever waits hears of it; a warm one that nobody waits for may die unheard.
    this.ready.catch(() => undefined);
  }

  /** Whether it can be given code. */
  get isAlive(): boolean {
    return this.#alive;
  }

  /** The process id of the outermost process, for tests and figures. */
  get processId(): number | undefined {
    return this.#child.pid;
  }

  /** Runs a piece of code for at most the time limit. Afterwards it is dead unless the run `finished` or `raised` and left it whole. One run at a time. */
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

  /** Kills it. What it was doing is lost. */
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
      // Counted before anything is kept: a flood ends the sandbox, not the gateway.
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
    // What tasks of an earlier run say after its end belongs to nobody.
    if (pending === undefined || message.run !== pending.record.run) return;
    if (message.kind === 'output') return pending.record.add(message.stream, message.text);
    pending.settle(pending.record.report(message.outcome, message.text, message.dropped));
    // The next run is not to meet its end.
    if (message.broken) this.close();
  }
}
