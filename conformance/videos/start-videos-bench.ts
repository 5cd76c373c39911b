import { startConversationsBench, startConversationsProgram, type ConversationsBench } from '../conversations/start-conversations-bench.ts';
import { type Answer, call, eventually } from '../support/http.ts';
import { type SimulatedProgram, type SimulatedWeir, type StartSimulatedWeirOptions, upstreamKey } from '../support/start-simulated-weir.ts';

/** A running Weir whose video models go to the three simulated interfaces. */
export type VideosBench<Simulated extends SimulatedWeir = SimulatedWeir> = ConversationsBench<Simulated> & {
  readonly ask: (method: string, path: string, options?: AskOptions) => Promise<Answer>;
  /** Orders a video and resolves with its id. */
  readonly make: (body: object, options?: AskOptions) => Promise<string>;
  /** The task object once it has ended. */
  readonly ended: (id: string, options?: AskOptions) => Promise<Answer['json']>;
};

type AskOptions = {
  readonly body?: unknown;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const video = (upstream: string, model: string) => ({ targets: [{ upstream, model }] });

type Config = Readonly<Record<string, unknown>>;

/** Further upstreams and models of weir.yaml, and whether the monitor is needed. */
type More = {
  readonly upstreams?: Readonly<Record<string, object>>;
  readonly models?: Readonly<Record<string, object>>;
  readonly monitor?: boolean;
};

export async function startVideosBench(config: Config = {}, more: More = {}): Promise<VideosBench> {
  return equip(await startConversationsBench(describe(config, more)));
}

/** With the gateway in a process of its own. */
export async function startVideosProgram(config: Config = {}): Promise<VideosBench<SimulatedProgram>> {
  return equip(await startConversationsProgram(describe(config, {})));
}

function describe(config: Config, more: More): StartSimulatedWeirOptions {
  return {
    ...(more.monitor === true ? { weir: { command: 'start' } } : {}),
    config,
    upstreams: ({ openai }) => ({
      ...more.upstreams,
      gateway: {
        vendor: 'openai-compatible',
        baseUrl: openai,
        apiKey: upstreamKey,
        quirks: { videos: 'video-generations' },
        forwardHeaders: ['x-simulator-*'],
      },
    }),
    models: {
      ...more.models,
      'vendor-imagine-video': video('xai', 'grok-imagine-video'),
      'sora-2': video('openai', 'sora-2'),
      chained: video('gateway', 'vendor-imagine-video'),
    },
  };
}

function equip<Simulated extends SimulatedWeir>(bench: ConversationsBench<Simulated>): VideosBench<Simulated> {
  const ask: VideosBench['ask'] = (method, path, { body, key = bench.weir.apiKey, headers = {} } = {}) =>
    call(`${bench.weir.gatewayUrl}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    ...bench,
    ask,
    make: async (body, options = {}) => {
      const { status, json, text } = await ask('POST', '/video/generations', {
        ...options,
        headers: { 'x-simulator-video': 'ms=300', ...options.headers },
        body: { model: 'vendor-imagine-video', prompt: 'a red kite', ...body },
      });
      if (status !== 200) throw new Error(`${status} ${text}`);
      return json.id;
    },
    ended: (id, options) =>
      eventually(
        async () => (await ask('GET', `/videos/${id}`, options)).json,
        (task) => task?.status === 'completed' || task?.status === 'failed',
        90_000,
      ),
  };
}
