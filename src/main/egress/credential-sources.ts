import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { promisify } from 'node:util';

import type { Clock } from '../../platform/clock.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import type { CredentialMeans } from '../../upstreams/credentials/credential-means.ts';
import type { CredentialSource, SourceWatch } from '../../upstreams/credentials/credential-source.ts';
import { openCredential } from '../../upstreams/credentials/registry.ts';
import { createTokenClient } from '../../upstreams/credentials/token-client.ts';
import type { CredentialSources } from '../config/build-settings.ts';
import { noProxy } from './choose-proxy.ts';
import type { Egress } from './open-client.ts';

const runFile = promisify(execFile);

/** Commands print a document of a few kilobytes. */
const printedBytesMax = 256 * 1024;

/**
 * Runs a command in a shell, as the tools of a cloud do with `credential_process`. Rejects if it fails or prints too
 * much; the error has no output in it, which may be a secret.
 */
async function runCommand(command: string, signal: AbortSignal): Promise<string> {
  try {
    const { stdout } = await runFile('/bin/sh', ['-c', command], { signal, maxBuffer: printedBytesMax });
    return stdout;
  } catch (error) {
    const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    throw new Error(`the command failed (${String(code)})`, { cause: undefined });
  }
}

type MeansOptions = {
  readonly clock: Clock;
  readonly variable: (name: string) => string | undefined;
  readonly clientOf: (origin: string, egress: Egress) => UpstreamClient;
};

/** What sources work with in this process, by the way out to their services. */
export function createCredentialMeans({ clock, variable, clientOf }: MeansOptions): (egress: Egress) => CredentialMeans {
  return (egress) => ({
    ask: createTokenClient((origin, isLocal) => clientOf(origin, isLocal ? { proxy: noProxy } : { proxy: egress.proxy })),
    clock,
    variable,
    homeDirectory: variable('HOME') ?? homedir(),
    readFile: (path, signal) => readFile(path, { encoding: 'utf8', signal }),
    run: runCommand,
  });
}

/**
 * The sources of credentials of a process. Upstreams with equal settings, facts and way out share one, also after a
 * reload.
 */
export function createCredentialSources(
  options: MeansOptions & {
    /** Makes the watch of a source. Default: failures are not reported. */
    readonly watch?: (source: () => CredentialSource | undefined) => SourceWatch;
  },
): {
  readonly open: CredentialSources;
  /** Closes the sources that are not among these. */
  readonly retain: (used: ReadonlySet<CredentialSource>) => Promise<void>;
} {
  const sources = new Map<string, CredentialSource>();
  const meansFor = createCredentialMeans(options);
  return {
    open: (settings, facts, egress) =>
      sources.getOrInsertComputed(JSON.stringify([settings, facts, egress.proxy]), (key) => {
        const watch = options.watch?.(() => sources.get(key));
        return openCredential(settings, facts, { ...meansFor(egress), watch });
      }),
    retain: async (used) => {
      const unused = [...sources].filter(([, source]) => !used.has(source));
      for (const [key] of unused) sources.delete(key);
      await Promise.all(unused.map(([, source]) => source.close()));
    },
  };
}
