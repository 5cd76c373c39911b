import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { DialectId } from '../../src/dialects/dialect-id.ts';
import { type ChaosProxy, startChaosProxy } from '../support/chaos-proxy.ts';
import { type ChaosProxyProcess, startChaosProxyProcess } from '../support/chaos-proxy-process.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import { type SimulatorProcess, startSimulatorProcess } from '../support/start-simulator-process.ts';
import { type RunningWeir, startWeir } from '../support/start-weir.ts';
import { type OpenLoopTask, type SeenCall, startOpenLoop } from './open-loop.ts';

type Vendor = keyof SimulatorProcess['addresses'];

/** The ways in which an upstream dies. */
type Death = 'refuse' | 'reset' | 'black-hole' | '5xx' | 'half-5xx' | 'stall';

/** A model with two targets, each behind a proxy of its own, and how they will die. */
export type Lane = {
  /** Also the model's name. */
  readonly name: string;
  readonly dialect: DialectId;
  readonly death: Death;
  /** Whether the second target speaks another dialect, so that it is reached by translation. */
  readonly translated?: boolean;
  /** Whether the targets share the calls; otherwise the second is a fallback for the first. */
  readonly shared?: boolean;
};

export type OpenLane = Lane & { readonly first: Mortal; readonly second: Mortal };

/** A proxy whose upstream can die and recover. */
type Mortal = Pick<ChaosProxy, 'counts'> & { readonly die: () => Promise<void>; readonly revive: () => Promise<void> };

export type ChaosBench = {
  readonly weir: RunningWeir;
  readonly lanes: readonly OpenLane[];
  /** Calls every lane's model in turn, whole and streamed, each this often per second, in a process of its own. */
  readonly load: (options: Pick<OpenLoopTask, 'seconds' | 'limitMs' | 'headers'> & { readonly perLanePerSecond: number }) => {
    readonly done: Promise<readonly SeenCall[]>;
  };
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export type ChaosOptions = {
  readonly lanes: readonly Lane[];
  /** How fast the simulated vendors answer. */
  readonly pace: string;
  readonly timeouts: Readonly<Record<string, number>>;
  /** Further content of weir.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
};

const vendorOf: Readonly<Record<DialectId, Vendor>> = {
  'anthropic-messages': 'anthropic',
  'openai-responses': 'openai',
  'openai-chat': 'openai',
  'gemini-generate-content': 'gemini',
};

const otherVendor: Readonly<Record<Vendor, Vendor>> = { anthropic: 'openai', openai: 'gemini', gemini: 'anthropic', xai: 'anthropic' };

/** Starts a Weir, the simulated vendors and the proxies between them. */
export async function startChaosBench(options: ChaosOptions): Promise<ChaosBench> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-chaos-'));
  const simulator = await startSimulatorProcess(join(directory, 'truth.jsonl'), { pace: options.pace });
  const proxies: ChaosProxy[] = [];
  const upstreams: Record<string, object> = {};
  const models: Record<string, object> = {};
  const connect = async (id: string, vendor: Vendor, death: Death): Promise<Mortal> => {
    const url = new URL(simulator.addresses[vendor]);
    const mortal = await startMortal(Number(url.port), death, proxies);
    url.port = String(mortal.port);
    upstreams[id] = { vendor, baseUrl: url.href.replace(/\/$/, ''), apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] };
    return mortal;
  };
  const lanes: OpenLane[] = [];
  for (const lane of options.lanes) {
    const vendor = vendorOf[lane.dialect];
    const first = await connect(`${lane.name}-first`, vendor, lane.death);
    const second = await connect(`${lane.name}-second`, lane.translated === true ? otherVendor[vendor] : vendor, lane.death);
    models[lane.name] = {
      targets: ['first', 'second'].map((which) => ({
        upstream: `${lane.name}-${which}`,
        ...(lane.shared === true ? { priority: 1 } : {}),
      })),
      price: { input: '1', output: '1' },
    };
    lanes.push({ ...lane, first, second });
  }
  const weir = await startWeir({ config: JSON.stringify({ ...options.config, upstreams, models, timeouts: options.timeouts }) });
  const calls = [false, true].flatMap((stream) => lanes.map(({ name, dialect }) => ({ dialect, model: name, stream })));
  const bench: ChaosBench = {
    weir,
    lanes,
    load: ({ perLanePerSecond, ...rest }) =>
      startOpenLoop({
        gatewayUrl: weir.gatewayUrl,
        apiKey: weir.apiKey,
        calls,
        perSecond: perLanePerSecond * lanes.length,
        ...rest,
      }),
    [Symbol.asyncDispose]: async () => {
      await weir[Symbol.asyncDispose]();
      await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
      await simulator[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await warmUp(bench);
  return bench;
}

/** The first calls load code and open connections, which would distort the measurement. */
async function warmUp(bench: ChaosBench): Promise<void> {
  const seen = await bench.load({ perLanePerSecond: 10, seconds: 2, limitMs: 20_000 }).done;
  const failed = seen.find(({ complete }) => !complete);
  if (failed !== undefined) throw new Error(`a call failed before anything was dead: ${JSON.stringify(failed)}; ${bench.weir.output()}`);
}

/**
 * Only a process can vanish; everything else is done in this one. Streams in progress end with the upstream, except if
 * only new calls fail.
 */
async function startMortal(targetPort: number, death: Death, proxies: ChaosProxy[]): Promise<Mortal & { readonly port: number }> {
  if (death === 'black-hole') {
    const proxy: ChaosProxyProcess = await startChaosProxyProcess(targetPort);
    proxies.push(proxy);
    return { port: proxy.port, counts: proxy.counts, die: () => proxy.vanish('freeze'), revive: proxy.appear };
  }
  const proxy = await startChaosProxy(targetPort);
  proxies.push(proxy);
  const die = (): Promise<void> => {
    switch (death) {
      case 'refuse':
        return proxy.set({ type: 'refuse' }, 'reset');
      case 'reset':
        return proxy.set({ type: 'reset', afterBytes: 0 }, 'reset');
      case '5xx':
        return proxy.set({ type: 'status', status: 503 }, 'keep');
      case 'half-5xx':
        return proxy.set({ type: 'status', status: 529, every: 2 }, 'keep');
      case 'stall':
        return proxy.set({ type: 'stall', afterBytes: 0 }, 'freeze');
    }
  };
  // A frozen connection stays frozen: after a restart the other machine does not know it.
  const revive = (): Promise<void> => proxy.set({ type: 'none' }, death === 'stall' ? 'reset' : 'keep');
  return { port: proxy.port, counts: proxy.counts, die, revive };
}
