import { readFileSync } from 'node:fs';

import { type EnvironmentProxies, ProxyVariableError, readEnvironmentProxies } from './egress/environment-proxies.ts';
import type { SecretBook } from '../upstreams/credentials/secrets/secret-book.ts';
import { readTracing, type Tracing, TracingError } from './assembly/telemetry/read-tracing.ts';

/** The settings of the environment. Only this folder reads it; other folders receive values. */
export type Environment = {
  readonly host: string;
  readonly port: number;
  readonly monitorPort: number;
  /** Port of the console and the admin API; undefined if they are not served. */
  readonly consolePort: number | undefined;
  readonly dataDirectory: string;
  readonly configPath: string | undefined;
  readonly apiKey: string | undefined;
  readonly billingToken: string | undefined;
  readonly logLevel: string;
  /** Address of the metrics; undefined if they are not served. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** Target of the traces; undefined if there are none. */
  readonly tracing: Tracing | undefined;
  /** Proxies for connections to upstreams. */
  readonly proxies: EnvironmentProxies;
  /** How long the event loop may be blocked before the process ends itself; 0: no limit. */
  readonly watchdogMs: number;
  /**
   * Looks up a variable, for `${NAME}` in the configuration and for vendor keys. An empty value counts as unset. If it
   * is unset and `NAME_FILE` names a file, the value is the text of the file without its last line break, read now.
   * @throws StartError if that file cannot be read
   */
  readonly variable: (name: string) => string | undefined;
  /** The secrets that the configuration refers to. Absent: this program reads none. */
  readonly secrets?: SecretBook;
};

/** Variable of the key that encrypts reasoning proofs. */
export const proofKeyVariable = 'WEIR_PROOF_KEY';

/** Variable of the password that seals the key of sealed data in a backup. */
export const backupPasswordVariable = 'WEIR_BACKUP_PASSWORD';

/** Every variable that Weir itself reads, for the reference page. */
export const environmentVariables: readonly { readonly name: string; readonly fallback: string; readonly meaning: string }[] = [
  { name: 'WEIR_PORT', fallback: '8080', meaning: 'Port of the gateway. 0 picks a free port, which the ready line prints.' },
  { name: 'WEIR_MONITOR_PORT', fallback: '8081', meaning: 'Port of the monitor service. 0 picks a free port.' },
  {
    name: 'WEIR_CONSOLE_PORT',
    fallback: '8082',
    meaning: 'Port of the admin API. 0 picks a free port, which the ready line prints. off: it is not served.',
  },
  { name: 'WEIR_HOST', fallback: '127.0.0.1', meaning: 'Address that all listen on. 0.0.0.0: all network interfaces.' },
  {
    name: 'WEIR_DATA_DIR',
    fallback: './weir-data',
    meaning: 'Directory of the database and the journal. It is created if it does not exist.',
  },
  { name: 'WEIR_CONFIG', fallback: './weir.yaml when it exists', meaning: 'The configuration file.' },
  {
    name: 'WEIR_API_KEY',
    fallback: 'generated',
    meaning: 'Value of the first API key (8 to 256 printable characters). Every start creates the key if it does not exist.',
  },
  {
    name: 'WEIR_BILLING_TOKEN',
    fallback: 'generated',
    meaning: 'Value of the first billing token. Every start creates the token if it does not exist.',
  },
  {
    name: proofKeyVariable,
    fallback: 'kept in the data directory',
    meaning:
      'Key that encrypts stored reasoning proofs: 32 random bytes in hexadecimal or base64. All machines that share a database need the same key.',
  },
  {
    name: backupPasswordVariable,
    fallback: 'none',
    meaning:
      'Password of 12 characters or more that seals the key of encrypted data into a backup (`weir backup`), and opens it in `weir restore`.',
  },
  {
    name: 'WEIR_ADMIN_TOKEN',
    fallback: 'none',
    meaning: 'Admin token for commands with --remote. It is used before the one of weir login.',
  },
  {
    name: 'XDG_CONFIG_HOME',
    fallback: '~/.config',
    meaning: 'Directory whose folder weir/consoles has the tokens of weir login.',
  },
  {
    name: 'WEIR_WATCHDOG_SECONDS',
    fallback: '5',
    meaning:
      'Seconds after which a process with a blocked event loop logs its stack and ends itself (SIGKILL, exit status 137), so that its supervisor restarts it. 0 turns this off.',
  },
  {
    name: 'WEIR_OWNER_URL',
    fallback: 'none',
    meaning: 'URL of the PostgreSQL database with the role that owns its tables, for `weir migrate --url -`.',
  },
  {
    name: 'WEIR_LOG_LEVEL',
    fallback: 'info',
    meaning: 'debug, info, warn, error or silent. Each call has one line: a warning if it failed, info otherwise.',
  },
  {
    name: 'WEIR_METRICS_PORT',
    fallback: 'not served',
    meaning: 'Port of the metrics for Prometheus, at /metrics. 0 picks a free port, which the ready line prints.',
  },
  {
    name: 'WEIR_METRICS_HOST',
    fallback: '127.0.0.1',
    meaning: 'Address of the metrics. They require no key: every client that reaches the address can read them.',
  },
  {
    name: 'HTTPS_PROXY',
    fallback: 'none',
    meaning:
      'Proxy for upstreams with https addresses: http://user:password@host:port or https://…. The name in lower case takes precedence.',
  },
  {
    name: 'HTTP_PROXY',
    fallback: 'none',
    meaning: 'Proxy for upstreams with http addresses.',
  },
  {
    name: 'NO_PROXY',
    fallback: 'this machine',
    meaning:
      'Hosts that are connected to without these proxies, separated by commas: names, which include their subdomains, addresses, or networks such as 10.0.0.0/8, each with or without :port. * means all hosts.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: 'no traces',
    meaning: 'OpenTelemetry collector that receives the traces, such as http://localhost:4318. The guide names the other OTEL_ variables.',
  },
];

/** A start that cannot succeed. The message is for the operator. */
export class StartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** The largest file of a variable: a chain of certificates is smaller. */
const fileBytesMax = 65_536;

/** Reads the file that `NAME_FILE` names. Secrets of containers and of systemd are such files. */
function readVariableFile(name: string, path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new StartError(
      `${name}_FILE must name a file that can be read, but ${path} cannot (${String((cause as { code?: unknown }).code)})`,
      { cause },
    );
  }
  if (text.length > fileBytesMax)
    throw new StartError(`${name}_FILE names ${path} with ${text.length} characters; a value has at most ${fileBytesMax}`);
  const value = text.replace(/\r?\n$/, '');
  return value === '' ? undefined : value;
}

function readPort(name: string, value: string | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port <= 65_535) return port;
  throw new StartError(`${name} must be a port number from 0 to 65535, but it is "${value}"`);
}

/** Reads the trace variables. @throws StartError, which is printed without a stack, for a wrong value */
function readTraces(variable: Environment['variable']): Tracing | undefined {
  try {
    return readTracing(variable);
  } catch (error) {
    throw error instanceof TracingError ? new StartError(error.message) : error;
  }
}

/** Reads the proxy variables. @throws StartError for a wrong value */
function readProxies(variable: Environment['variable']): EnvironmentProxies {
  try {
    return readEnvironmentProxies(variable);
  } catch (error) {
    throw error instanceof ProxyVariableError ? new StartError(error.message) : error;
  }
}

const watchdogSecondsDefault = 5;
const watchdogSecondsMax = 3600;

function readWatchdogSeconds(text: string | undefined): number {
  const seconds = text === undefined ? watchdogSecondsDefault : Number(text);
  if (text?.trim() !== '' && Number.isInteger(seconds) && seconds >= 0 && seconds <= watchdogSecondsMax) return seconds;
  throw new StartError(`WEIR_WATCHDOG_SECONDS must be an integer from 0 (off) to ${watchdogSecondsMax}, but it is "${text}"`);
}

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'];

/** Reads the environment. @throws StartError that names the variable with a wrong value */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const plain = (name: string): string | undefined => (variables[name] === '' ? undefined : variables[name]);
  const variable = (name: string): string | undefined => {
    const path = plain(name) === undefined ? plain(`${name}_FILE`) : undefined;
    return path === undefined ? plain(name) : readVariableFile(name, path);
  };
  const logLevel = variable('WEIR_LOG_LEVEL') ?? 'info';
  if (!logLevels.includes(logLevel)) throw new StartError(`WEIR_LOG_LEVEL must be one of ${logLevels.join(', ')}, but it is "${logLevel}"`);
  return {
    host: variable('WEIR_HOST') ?? '127.0.0.1',
    port: readPort('WEIR_PORT', variable('WEIR_PORT'), 8080),
    monitorPort: readPort('WEIR_MONITOR_PORT', variable('WEIR_MONITOR_PORT'), 8081),
    consolePort: variable('WEIR_CONSOLE_PORT') === 'off' ? undefined : readPort('WEIR_CONSOLE_PORT', variable('WEIR_CONSOLE_PORT'), 8082),
    dataDirectory: variable('WEIR_DATA_DIR') ?? 'weir-data',
    configPath: variable('WEIR_CONFIG'),
    apiKey: variable('WEIR_API_KEY'),
    billingToken: variable('WEIR_BILLING_TOKEN'),
    logLevel,
    metrics:
      variable('WEIR_METRICS_PORT') === undefined
        ? undefined
        : { host: variable('WEIR_METRICS_HOST') ?? '127.0.0.1', port: readPort('WEIR_METRICS_PORT', variable('WEIR_METRICS_PORT'), 0) },
    tracing: readTraces(variable),
    proxies: readProxies(variable),
    watchdogMs: 1000 * readWatchdogSeconds(variable('WEIR_WATCHDOG_SECONDS')),
    variable,
  };
}
