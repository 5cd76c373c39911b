import { type EnvironmentProxies, ProxyVariableError, readEnvironmentProxies } from './egress/environment-proxies.ts';
import { readTracing, type Tracing, TracingError } from './assembly/telemetry/read-tracing.ts';

/** What the environment says. Only this folder reads it; everything else is handed what it needs. */
export type Environment = {
  readonly host: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly dataDirectory: string;
  readonly configPath: string | undefined;
  readonly apiKey: string | undefined;
  readonly billingToken: string | undefined;
  readonly logLevel: string;
  /** Where the metrics are served; absent where they are not. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  /** Where traces are sent; absent where none are kept. */
  readonly tracing: Tracing | undefined;
  /** The proxies that upstreams are reached through. */
  readonly proxies: EnvironmentProxies;
  /** For how long the event loop may stand still before the process is ended; 0: for ever. */
  readonly watchdogMs: number;
  /** Looks a variable up, for `${NAME}` in the configuration and for vendor keys. Empty counts as unset. */
  readonly variable: (name: string) => string | undefined;
};

/** The key under which reasoning proofs are kept. */
export const proofKeyVariable = 'WEIR_PROOF_KEY';

/** Every variable that Weir itself reads, for the reference page. */
export const environmentVariables: readonly { readonly name: string; readonly fallback: string; readonly meaning: string }[] = [
  { name: 'WEIR_PORT', fallback: '8080', meaning: 'Port of the gateway. 0 picks a free one; the ready line prints it.' },
  { name: 'WEIR_MONITOR_PORT', fallback: '8081', meaning: 'Port of the monitor service. 0 picks a free one.' },
  { name: 'WEIR_HOST', fallback: '127.0.0.1', meaning: 'Address both listen on. 0.0.0.0 for all interfaces.' },
  { name: 'WEIR_DATA_DIR', fallback: './weir-data', meaning: 'Directory of the database and the journal. Created when absent.' },
  { name: 'WEIR_CONFIG', fallback: './weir.yaml when it exists', meaning: 'The configuration file.' },
  {
    name: 'WEIR_API_KEY',
    fallback: 'generated',
    meaning: 'Value of the first API key (8 to 256 printable characters), made sure of at every start.',
  },
  { name: 'WEIR_BILLING_TOKEN', fallback: 'generated', meaning: 'Value of the first billing token, made sure of at every start.' },
  {
    name: proofKeyVariable,
    fallback: 'kept in the data directory',
    meaning:
      'Key that encrypts reasoning proofs at rest: 32 random bytes in hexadecimal or base64, the same on all machines that share a database.',
  },
  {
    name: 'WEIR_WATCHDOG_SECONDS',
    fallback: '5',
    meaning:
      'When the event loop has not turned for so many seconds, the process logs where it stood and ends itself (SIGKILL, exit status 137), so that its supervisor restarts it. 0 turns this off.',
  },
  {
    name: 'WEIR_OWNER_URL',
    fallback: 'none',
    meaning: 'URL of the PostgreSQL database with the role that owns its tables, for `weir migrate --url -`.',
  },
  {
    name: 'WEIR_LOG_LEVEL',
    fallback: 'info',
    meaning: 'debug, info, warn, error or silent. Each call has one line: a warning where it failed, info otherwise.',
  },
  {
    name: 'WEIR_METRICS_PORT',
    fallback: 'not served',
    meaning: 'Port of the metrics for Prometheus, at /metrics. 0 picks a free one; the ready line prints it.',
  },
  {
    name: 'WEIR_METRICS_HOST',
    fallback: '127.0.0.1',
    meaning: 'Address the metrics are served on. They need no key: whoever reaches it reads them.',
  },
  {
    name: 'HTTPS_PROXY',
    fallback: 'none',
    meaning: 'Proxy for upstreams at https addresses: http://user:password@host:port or https://…. In lower case too, which comes first.',
  },
  {
    name: 'HTTP_PROXY',
    fallback: 'none',
    meaning: 'The same for upstreams at http addresses.',
  },
  {
    name: 'NO_PROXY',
    fallback: 'this machine',
    meaning:
      'Hosts that are reached without these proxies, with commas between them: names with all below them, addresses, networks such as 10.0.0.0/8, each with :port or without, * for all.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    fallback: 'no traces',
    meaning: 'OpenTelemetry collector that traces are sent to, such as http://localhost:4318. The guide names the other OTEL_ variables.',
  },
];

/** A start that cannot succeed, with words for the operator. */
export class StartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StartError';
  }
}

function readPort(name: string, value: string | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port <= 65_535) return port;
  throw new StartError(`${name} must be a port number from 0 to 65535, but it is "${value}"`);
}

/** The same error, as one that an operator can mend. */
function readTraces(variable: Environment['variable']): Tracing | undefined {
  try {
    return readTracing(variable);
  } catch (error) {
    throw error instanceof TracingError ? new StartError(error.message) : error;
  }
}

/** The same error, as one that an operator can mend. */
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

/** Reads the environment. Throws StartError naming the variable whose value is wrong. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const variable = (name: string): string | undefined => (variables[name] === '' ? undefined : variables[name]);
  const logLevel = variable('WEIR_LOG_LEVEL') ?? 'info';
  if (!logLevels.includes(logLevel)) throw new StartError(`WEIR_LOG_LEVEL must be one of ${logLevels.join(', ')}, but it is "${logLevel}"`);
  return {
    host: variable('WEIR_HOST') ?? '127.0.0.1',
    port: readPort('WEIR_PORT', variable('WEIR_PORT'), 8080),
    monitorPort: readPort('WEIR_MONITOR_PORT', variable('WEIR_MONITOR_PORT'), 8081),
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
