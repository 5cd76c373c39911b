import type { Clock } from '../../platform/clock.ts';
import type { SourceWatch } from './credential-source.ts';
import type { TokenClient } from './token-client.ts';

/** What sources of credentials work with. Tests give them simulated services, files and times. */
export type CredentialMeans = {
  readonly ask: TokenClient;
  readonly clock: Clock;
  /** A variable of the environment. */
  readonly variable: (name: string) => string | undefined;
  /** The home directory of the user of this process, for the usual files of a cloud's tools. */
  readonly homeDirectory: string;
  /** Reads a small file as text. Rejects with the error of the system. */
  readonly readFile: (path: string, signal: AbortSignal) => Promise<string>;
  /** Runs a command that the operator configured, in a shell, and returns what it prints. */
  readonly run: (command: string, signal: AbortSignal) => Promise<string>;
  /** Gets the failures of a source. Absent: they are not reported. */
  readonly watch?: SourceWatch | undefined;
};
