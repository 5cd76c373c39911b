import { startSimulator, type RunningSimulator, type SimulatorOptions } from 'weir-simulator';

import { serveWeir } from './serve-weir.ts';
import { type RunningWeir, type ServedWeir, type ServeWeirOptions, startWeir, type StartWeirOptions } from './start-weir.ts';

export type StartSimulatedWeirOptions = {
  readonly simulator?: SimulatorOptions;
  /** `timeouts` of weir.yaml, in milliseconds. */
  readonly timeouts?: Readonly<Record<string, number>>;
  /** Further upstreams and the models of weir.yaml, which may use the simulator's addresses. */
  readonly upstreams?: (addresses: RunningSimulator['addresses']) => Readonly<Record<string, object>>;
  /** Further upstreams, at the simulated clouds. */
  readonly clouds?: (simulator: RunningSimulator) => Readonly<Record<string, object>>;
  readonly models?: Readonly<Record<string, object>>;
  /**
   * `retries` of weir.yaml. Default: every call is one attempt, whatever the targets' state, and a stream opens with
   * its first content, however late. Most suites test a single exchange with an upstream that fails on purpose, and the
   * resulting status.
   */
  readonly retries?: { readonly attemptsMax?: number; readonly avoidFailing?: boolean; readonly holdOpeningMs?: number };
  /**
   * Whether the gateway runs the built-in tools itself for every vendor: it searches the simulated web and reads its
   * pages. Otherwise the vendors of its models run the tools that they have.
   */
  readonly runsTools?: boolean;
  /** The prices of its tools then. */
  readonly toolPrices?: Readonly<Record<string, string>>;
  /** Further content of weir.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The part `secrets` of weir.yaml, with the services of the simulated clouds. */
  readonly secrets?: (simulator: RunningSimulator) => Readonly<Record<string, unknown>>;
  /** Variables with addresses of the simulated clouds. */
  readonly variables?: (simulator: RunningSimulator) => Readonly<Record<string, string>>;
  readonly weir?: Omit<ServeWeirOptions, 'config'>;
};

export type StartSimulatedProgramOptions = Omit<StartSimulatedWeirOptions, 'weir'> & { readonly weir?: Omit<StartWeirOptions, 'config'> };

/** A real Weir and the simulated vendors that it calls. */
type Simulated<Weir> = {
  readonly weir: Weir;
  readonly simulator: RunningSimulator;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** Everything runs in the test's own process. */
export type SimulatedWeir = Simulated<ServedWeir>;

/** The Weir runs in a process of its own, the vendors in the test's. */
export type SimulatedProgram = Simulated<RunningWeir>;

/**
 * `overload` of weir.yaml for suites about other subjects: on a busy machine the gate would correctly refuse some of
 * their calls.
 */
export const neverOverloaded = { loopDelayMs: 60_000 } as const;

/** The credential that the upstreams receive. No client of a test may ever receive it. */
export const upstreamKey = 'sk-upstream-0123456789abcdef';

/**
 * Starts the simulated vendors, whose records can be read, and a Weir with them as upstreams, in the test's own
 * process. A client controls the vendors by `x-simulator-*` headers. The upstreams are named after the four vendors;
 * `options` adds more.
 */
export function startSimulatedWeir(options: StartSimulatedWeirOptions = {}): Promise<SimulatedWeir> {
  return startWith((started) => serveWeir({ ...options.weir, ...started }), options);
}

/**
 * Like {@link startSimulatedWeir}, without the monitor: half of the start-up cost is its threads. For suites that do
 * not use it.
 */
export function startSimulatedGateway(options: StartSimulatedWeirOptions = {}): Promise<SimulatedWeir> {
  return startSimulatedWeir({ ...options, weir: { command: 'gateway', ...options.weir } });
}

/**
 * Like {@link startSimulatedWeir}, with the Weir in a process of its own: for suites about its signals, its death, its
 * memory, its times or its output.
 */
export function startSimulatedProgram(options: StartSimulatedProgramOptions = {}): Promise<SimulatedProgram> {
  return startWith((started) => startWeir({ ...options.weir, ...started }), options);
}

async function startWith<Weir extends ServedWeir>(
  start: (options: Required<Pick<ServeWeirOptions, 'config' | 'environment'>>) => Promise<Weir>,
  options: Omit<StartSimulatedWeirOptions, 'weir'> & { readonly weir?: Pick<ServeWeirOptions, 'environment'> },
): Promise<Simulated<Weir>> {
  const simulator = await startSimulator(options.simulator);
  try {
    const vendors = ['anthropic', 'openai', 'gemini', 'xai'] as const;
    const upstreams = Object.fromEntries(
      vendors.map((vendor) => [
        vendor,
        { vendor, baseUrl: simulator.addresses[vendor], apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] },
      ]),
    );
    const config = {
      ...(options.runsTools === true
        ? { tools: { ...toolsOf(simulator), ...(options.toolPrices === undefined ? {} : { prices: options.toolPrices }) } }
        : {}),
      ...options.config,
      upstreams: { ...upstreams, ...options.upstreams?.(simulator.addresses), ...options.clouds?.(simulator) },
      ...(options.secrets === undefined ? {} : { secrets: options.secrets(simulator) }),
      ...(options.models === undefined ? {} : { models: options.models }),
      ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
      retries: options.retries ?? { attemptsMax: 1, avoidFailing: false, holdOpeningMs: 60_000 },
      overload: options.config?.['overload'] ?? neverOverloaded,
    };
    // JSON is YAML, so no value needs YAML quotes.
    const environment = { ...options.weir?.environment, ...options.variables?.(simulator) };
    const weir = await start({ config: JSON.stringify(config), environment });
    return {
      weir,
      simulator,
      [Symbol.asyncDispose]: async () => {
        await weir[Symbol.asyncDispose]();
        await simulator.close();
      },
    };
  } catch (error) {
    await simulator.close();
    throw error;
  }
}

/** The simulated web is in the test's own process: if that stalls for some seconds, the gateway waits. */
const webTimeoutMs = 120_000;

/** `tools` of weir.yaml with which the gateway runs every tool itself, over the simulated web. */
function toolsOf({ search }: RunningSimulator): object {
  const modes = { webSearch: 'gateway', urlContext: 'gateway', codeExecution: 'gateway' };
  return {
    modes,
    webSearch: { provider: 'searxng', baseUrl: search.url, timeoutMs: webTimeoutMs },
    pages: { trustedOrigins: [search.pageOrigin], timeoutMs: webTimeoutMs },
    imageGeneration: { model: 'gpt-image-1.5' },
    // No interpreter is started that no request will use.
    codeExecution: { poolSize: 0 },
  };
}
