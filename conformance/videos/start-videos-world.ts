import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startSimulator, type RunningSimulator } from 'weir-simulator';

import { type Answer, call, eventually } from '../support/http.ts';
import { upstreamKey } from '../support/start-simulated-weir.ts';
import { type RunningWeir, startWeir, type StartWeirOptions } from '../support/start-weir.ts';

type AskOptions = { readonly body?: unknown; readonly key?: string; readonly headers?: Readonly<Record<string, string>> };

/** A gateway of the world, and its client. */
export type WorldGateway = RunningWeir & {
  readonly ask: (method: string, path: string, options?: AskOptions) => Promise<Answer>;
  /** Orders a video and resolves with its id. It takes 300 ms, unless `script` differs. */
  readonly make: (body?: object, script?: string) => Promise<string>;
  readonly ended: (id: string, limitMs?: number) => Promise<Answer['json']>;
};

/** Simulated vendors and a data directory, which outlive the gateways that are started on them. */
export type VideosWorld = {
  readonly simulator: RunningSimulator;
  readonly dataDirectory: string;
  readonly start: (
    options?: Pick<StartWeirOptions, 'command' | 'commandArguments' | 'dataDirectory' | 'environment'>,
  ) => Promise<WorldGateway>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** @param config further content of weir.yaml */
export async function startVideosWorld(config: Readonly<Record<string, unknown>> = {}): Promise<VideosWorld> {
  const simulator = await startSimulator();
  const dataDirectory = mkdtempSync(join(tmpdir(), 'weir-videos-'));
  const started: RunningWeir[] = [];
  const target = (upstream: string, model: string) => ({ targets: [{ upstream, model }] });
  const upstreams = Object.fromEntries(
    (['openai', 'xai'] as const).map((vendor) => [
      vendor,
      { vendor, baseUrl: simulator.addresses[vendor], apiKey: upstreamKey, forwardHeaders: ['x-simulator-*'] },
    ]),
  );
  const models = { 'vendor-imagine-video': target('xai', 'grok-imagine-video'), 'sora-2': target('openai', 'sora-2') };
  const retries = { attemptsMax: 1, avoidFailing: false };
  return {
    simulator,
    dataDirectory,
    start: async (options) => {
      const weir = await startWeir({ dataDirectory, config: JSON.stringify({ upstreams, models, retries, ...config }), ...options });
      started.push(weir);
      return extend(weir);
    },
    [Symbol.asyncDispose]: async () => {
      for (const weir of started) await weir[Symbol.asyncDispose]();
      await simulator.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

function extend(weir: RunningWeir): WorldGateway {
  const ask: WorldGateway['ask'] = (method, path, { body, key = weir.apiKey, headers = {} } = {}) =>
    call(`${weir.gatewayUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    ...weir,
    ask,
    make: async (body = {}, script = 'ms=300') => {
      const headers = { 'x-simulator-video': script };
      const wish = { model: 'vendor-imagine-video', prompt: 'a red kite', ...body };
      const { status, json, text } = await ask('POST', '/video/generations', { headers, body: wish });
      if (status !== 200) throw new Error(`${status} ${text}`);
      return json.id;
    },
    ended: (id, limitMs = 90_000) =>
      eventually(
        async () => (await ask('GET', `/videos/${id}`)).json,
        (task) => task?.status === 'completed' || task?.status === 'failed',
        limitMs,
      ),
  };
}
