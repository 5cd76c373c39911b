import type { FileHandle } from 'node:fs/promises';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { FunctionTool } from '../../inference/inference-request.ts';
import { textOf } from '../../platform/json/json-readers.ts';
import type { Logger } from '../../platform/log.ts';
import type { GatewayTool, ToolOutcome, ToolRun, ToolFactories } from '../gateway-tool.ts';
import { describeRefusal, describeRun } from './describe-run.ts';
import { canSeal, findSeals } from './find-seals.ts';
import { openSnapshot } from './open-snapshot.ts';
import { Sandbox } from './sandbox.ts';
import { SandboxPool } from './sandbox-pool.ts';
import { type HostSeal, type SandboxLimits, serveCommand } from './seal-command.ts';
import { shareByKey } from './share-by-key.ts';

export type CodeExecutionOptions = {
  readonly limits: SandboxLimits;
  /** How many ready sandboxes wait after the first use. */
  readonly poolSize: number;
  /** How many requests may have a sandbox at the same time. */
  readonly concurrencyMax: number;
  /** How long a request waits if all slots are in use. Default: ten seconds. */
  readonly waitMs?: number;
  /** A writable folder for a file without a name. */
  readonly folder: string;
  readonly logger: Logger;
};

/** Code execution: `make` creates the tool of one request, `close` ends every sandbox. */
export type CodeExecution = { readonly make: ToolFactories['code-execution']; readonly close: () => Promise<void> };

/** The maximum length of code in characters. */
const codeLengthMax = 200_000;
/** A request without a run for this time loses its sandbox. */
const unusedMs = 15 * 60_000;
const idleMs = 10 * 60_000;

const offer: FunctionTool = {
  kind: 'function',
  name: 'run_python',
  description:
    "Runs Python 3.14 code in a sandbox and returns what it prints and the value of its last expression. Variables last from call to call. Only Python's standard library is available: there is no network, no packages can be installed, and there are no files of the user.",
  parameters: {
    type: 'object',
    properties: { code: { type: 'string', description: 'The Python code to run.' } },
    required: ['code'],
    additionalProperties: false,
  },
};

/** Creates code execution. It starts nothing before the first request. */
export function createCodeExecution(options: CodeExecutionOptions): CodeExecution {
  const host = new SandboxHost(options);
  const pool = new SandboxPool({
    start: () => host.start(),
    poolSize: options.poolSize,
    concurrencyMax: options.concurrencyMax,
    waitMs: options.waitMs ?? 10_000,
    idleMs,
    logger: options.logger,
  });
  return {
    make: async (tool) => {
      await host.prepare(tool.path);
      return makeTool(pool, options.limits);
    },
    close: async () => {
      await pool.close();
      await host.close();
    },
  };
}

/** Seals and snapshots are the same for equal limits, and cost seconds: each is made once in a process. */
const sealsOf = shareByKey<ReadonlySet<HostSeal>>();
const snapshotOf = shareByKey<FileHandle>();

/** Finds how sandboxes are sealed on this machine and which snapshot they start from. */
class SandboxHost {
  readonly #options: CodeExecutionOptions;
  #opening: Promise<unknown> | undefined;

  constructor(options: CodeExecutionOptions) {
    this.#options = options;
  }

  /** @throws GatewayError `tool_unavailable` if no sandbox can be sealed */
  async prepare(path: string | undefined): Promise<void> {
    try {
      await this.#findSeals();
    } catch (error) {
      throw new GatewayError('tool_unavailable', 'This server cannot run code: a sealed sandbox cannot be started on it.', {
        ...(path === undefined ? {} : { param: path }),
        internal: error instanceof Error ? error.message : String(error),
      });
    }
    // The snapshot is created while the model works, so that the first run can use it.
    this.#opening ??= this.#openSnapshot();
  }

  async start(): Promise<Sandbox> {
    const seals = await this.#findSeals();
    const snapshot = await this.#openSnapshot();
    const { limits } = this.#options;
    return new Sandbox({ command: serveCommand(seals, limits, snapshot !== undefined), limits, snapshot: snapshot?.fd });
  }

  /** Waits for the process that makes the snapshot, which writes to the folder. */
  async close(): Promise<void> {
    await this.#opening;
  }

  /** The host may have been too busy: after a failure the next request checks again. */
  #findSeals(): Promise<ReadonlySet<HostSeal>> {
    const { limits, logger } = this.#options;
    return sealsOf(JSON.stringify(limits), async () => {
      if (!canSeal()) throw new Error(`Node ${process.version} on ${process.platform} cannot seal a process.`);
      const seals = await findSeals(limits);
      logger.info({ seals: [...seals] }, 'sandbox seals found');
      return seals;
    });
  }

  /** Without a snapshot each start takes some seconds instead of half a second. */
  async #openSnapshot(): Promise<FileHandle | undefined> {
    const { limits, folder, logger } = this.#options;
    try {
      const seals = await this.#findSeals();
      return await snapshotOf(String(limits.memoryMb), () => openSnapshot(seals, limits, folder));
    } catch (error) {
      logger.warn({ err: error }, 'snapshot of the Python interpreter failed');
      return undefined;
    }
  }
}

function makeTool(pool: SandboxPool<Sandbox>, limits: SandboxLimits): GatewayTool {
  let sandbox: Sandbox | undefined;
  let unused: NodeJS.Timeout | undefined;
  let closed = false;
  const execute = async ({ arguments: args, signal }: ToolRun): Promise<ToolOutcome> => {
    const code = textOf(args['code']);
    if (code === undefined || code.trim() === '')
      return describeRefusal('invalid-input', 'Nothing was run: `code` must be a string of Python code.');
    if (code.length > codeLengthMax)
      return describeRefusal('invalid-input', `Nothing was run: \`code\` is longer than ${codeLengthMax} characters.`);
    const restarted = sandbox !== undefined && !sandbox.isAlive;
    try {
      if (sandbox === undefined || restarted) sandbox = await pool.take(signal);
    } catch {
      return describeRefusal('unavailable', 'Nothing was run: the request has ended.');
    }
    if (sandbox === undefined || closed) {
      sandbox?.close();
      return describeRefusal('unavailable', 'Nothing was run: all sandboxes are busy. Answer without running code, or try again.');
    }
    clearTimeout(unused);
    const report = await sandbox.run(code, signal);
    unused = setTimeout(() => sandbox?.close(), unusedMs).unref();
    return describeRun(report, limits, restarted);
  };
  // A model may request several runs at once. They share one interpreter and run one after another.
  let last: Promise<unknown> = Promise.resolve();
  return {
    kind: 'code-execution',
    offer,
    readInput: (args) => [textOf(args['code']) ?? ''],
    run: (run) => {
      const outcome = last.then(() => execute(run));
      last = outcome.catch(() => undefined);
      return outcome;
    },
    close: () => {
      closed = true;
      clearTimeout(unused);
      sandbox?.close();
    },
  };
}
