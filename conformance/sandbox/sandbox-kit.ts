import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { silentLogger } from '../../src/platform/log.ts';
import { createCodeExecution } from '../../src/tools/code-execution/create-code-execution.ts';
import type { SandboxLimits } from '../../src/tools/code-execution/seal-command.ts';
import type { GatewayTool, ToolOutcome } from '../../src/tools/gateway-tool.ts';

/** The secret that no code in a sandbox may ever read. */
const secret = 'canary-7f3d9a';

/** A host with objects to steal, break and call: it records every access of a sandbox. */
export type Host = {
  /** A folder with a file that contains the secret. */
  readonly folder: string;
  readonly secret: string;
  /** A port that answers TCP and UDP on this machine. */
  readonly port: number;
  /** Fails if anything of the host was accessed. */
  readonly assertUntouched: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Prepares the host. */
export async function openHost(): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-host-'));
  await writeFile(join(folder, 'journal'), secret);
  process.env['WEIR_CANARY'] = secret;
  let calls = 0;
  const { server, udp, port } = await listenTwice(() => (calls += 1));
  return {
    folder,
    secret,
    port,
    assertUntouched: async () => {
      assert.equal(calls, 0, 'the network was used');
      assert.deepEqual(await readdir(folder), ['journal'], 'a file was written');
      assert.equal(process.exitCode, undefined, 'the test process received a signal');
    },
    close: async () => {
      delete process.env['WEIR_CANARY'];
      server.close();
      udp.close();
      await rm(folder, { recursive: true });
    },
  };
}

/**
 * A TCP server and a UDP server on the same port. A port that is free for TCP may be in use for UDP, for example by a
 * DNS query.
 */
async function listenTwice(onCall: () => void): Promise<{ readonly server: Server; readonly udp: Socket; readonly port: number }> {
  for (;;) {
    const server = createServer((socket) => {
      onCall();
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const udp = createSocket('udp4').on('message', onCall);
    const isBound = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false));
      udp.bind(port, '127.0.0.1', () => resolve(true));
    });
    if (isBound) return { server, udp, port };
    server.close();
    udp.close();
  }
}

/** A tool with the settings of the tests. */
export type Bench = {
  readonly run: (code: string, signal?: AbortSignal) => Promise<ToolOutcome>;
  readonly newTool: () => Promise<GatewayTool>;
  /** The time limit of each further run. */
  readonly allow: (timeoutMs: number) => void;
  readonly close: () => Promise<void>;
};

export const usualLimits: SandboxLimits = { timeoutMs: 30_000, memoryMb: 128, outputBytesMax: 20_000 };

/** Makes code execution with one tool for all runs, as one request has it. */
export async function openBench(limits: Partial<SandboxLimits> = {}, poolSize = 1, concurrencyMax = 4, waitMs = 30_000): Promise<Bench> {
  const own = { ...usualLimits, ...limits };
  const execution = createCodeExecution({
    limits: own,
    poolSize,
    concurrencyMax,
    waitMs,
    folder: tmpdir(),
    logger: silentLogger,
  });
  const newTool = async (): Promise<GatewayTool> => execution.make({ kind: 'code-execution' }, { userName: 'a', keyId: 'key_a' });
  const tool = await newTool();
  return {
    run: (code, signal) => runCode(tool, code, signal),
    newTool,
    allow: (timeoutMs) => void (own.timeoutMs = timeoutMs),
    close: execution.close,
  };
}

/** Runs a piece of code as the tool loop does. */
export function runCode(tool: GatewayTool, code: string, signal = new AbortController().signal): Promise<ToolOutcome> {
  return tool.run({ callId: 'call_1', arguments: { code }, firstSource: 1, knowsAddress: () => false, signal });
}

/** The bench works as before. */
export async function assertNextRunWorks(bench: Bench): Promise<void> {
  const next = await bench.run('print(6 * 7)');
  assert.match(next.answer, /^stdout:\n42\n?/, next.answer);
  assert.equal(next.shown.failed, undefined);
}
