import { Argument, type Command } from 'commander';

import { AskError, askUpstream } from '../../platform/http/ask-upstream.ts';
import { createUpstreamClient, type UpstreamRequest } from '../../platform/http/upstream-client.ts';
import { membersOf, textsOf } from '../../platform/json/json-readers.ts';
import { parseBody } from '../doctor/parse-body.ts';
import { type Environment, StartError } from '../environment.ts';
import { formatUrl } from '../programs/listen.ts';
import { inert } from './usage/terminal-text.ts';

const programs = ['gateway', 'monitor', 'console'] as const;
type Program = (typeof programs)[number];

/** Less than the time-out of a usual health check, so that the reason is printed. */
const timeoutMs = 3000;

/**
 * Adds `weir health`: the state of a program that runs on this machine. It is the health check of containers: they have
 * neither a shell nor curl.
 */
export function addHealthCommand(program: Command, environment: Environment): void {
  program
    .command('health')
    .description('asks whether a program is ready that runs on this machine. Exit code 0: ready, 1: not ready or none')
    .addArgument(new Argument('[program]', 'which one; its port is that of the environment').choices(programs).default('gateway'))
    .option('--live', 'only whether the process runs, even if it is not ready')
    .action(async (name: Program, { live }: { readonly live?: true }) => {
      const state = await readHealth(name, environment, live === true);
      if (!state.good) process.exitCode = 1;
      (state.good ? console.log : console.error)(inert(state.says));
    });
}

async function readHealth(
  name: Program,
  environment: Environment,
  live: boolean,
): Promise<{ readonly good: boolean; readonly says: string }> {
  const url = findUrl(name, environment);
  const client = createUpstreamClient({ origin: url, connectTimeoutMs: timeoutMs, headerBytesMax: 16_384 });
  const path = live ? '/health/live' : '/health/ready';
  const request: UpstreamRequest = { path, method: 'GET', headers: { accept: 'application/json' }, body: undefined };
  try {
    const { status, body } = await askUpstream(client, request, { timeoutMs, signal: AbortSignal.timeout(timeoutMs) });
    if (status === 200) return { good: true, says: `the ${name} at ${url} ${live ? 'runs' : 'is ready'}` };
    return { good: false, says: `the ${name} at ${url} is not ready: ${readReasons(body) ?? `it answered with status ${status}`}` };
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    const says = error.code === 'ECONNREFUSED' ? `no ${name} runs at ${url}` : `the ${name} at ${url} does not answer (${error.code})`;
    return { good: false, says };
  } finally {
    void client.close();
  }
}

/** Where the program listens. A program that listens on all addresses is asked at the one of this machine. */
function findUrl(name: Program, { host, port, monitorPort, consolePort }: Environment): string {
  const { found, variable } = {
    gateway: { found: port, variable: 'WEIR_PORT' },
    monitor: { found: monitorPort, variable: 'WEIR_MONITOR_PORT' },
    console: { found: consolePort, variable: 'WEIR_CONSOLE_PORT' },
  }[name];
  if (found === undefined) throw new StartError(`${variable} is off, so no ${name} runs; remove it, or ask another program`);
  if (found === 0)
    throw new StartError(`${variable} is 0, so the port of the ${name} is not known; set ${variable} to the one that it printed`);
  return formatUrl(host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, found);
}

function readReasons(body: Buffer): string | undefined {
  const reasons = textsOf(membersOf(parseBody(body)).reasons);
  return reasons.length === 0 ? undefined : reasons.join('; ');
}
