import { asText } from '../read-json.ts';
import type { JsonRecord } from '../simulated-vendor.ts';
import { startSimulator, type RunningSimulator, type SimulatorOptions } from '../start-simulator.ts';

/** A simulator whose clock the test advances, and how its video interfaces are called. */
export type VideoBench = {
  readonly simulator: RunningSimulator;
  /** Base address of the vendor. */
  readonly url: string;
  /** Advances the clock, in milliseconds. */
  readonly pass: (ms: number) => void;
  readonly get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  readonly post: (path: string, body: object, headers?: Record<string, string>) => Promise<Response>;
  /** Submits and returns the job's id at the control server. */
  readonly submit: (script?: string, body?: object) => Promise<string>;
};

/** The request of each interface for a video with a script. */
const submissions = {
  xai: (script: string) => ({ path: '/videos/generations', body: { model: 'grok-imagine-video', prompt: 'A cat.', simulator: script } }),
  openai: (script: string) => ({ path: '/videos', body: { model: 'sora-2', prompt: 'A cat.', simulator: script } }),
  gateway: (script: string) => ({
    path: '/video/generations',
    body: { model: 'vendor-imagine-video', prompt: 'A cat.', metadata: { simulator: script } },
  }),
} as const;

export type VideoVendor = keyof typeof submissions;

/**
 * Starts a simulator for tests of one video interface. A job takes 1,000 ms of the test's clock. The caller closes it.
 */
export async function openBench(vendor: VideoVendor, options: SimulatorOptions = {}): Promise<VideoBench> {
  let nowMs = Date.UTC(2026, 10, 22);
  const simulator = await startSimulator({ video: 'ms=1000', clock: { nowMs: () => nowMs }, ...options });
  const url = vendor === 'xai' ? simulator.addresses.xai : simulator.addresses.openai;
  const authorization = 'Bearer sk-video';
  const post: VideoBench['post'] = (path, body, headers = {}) =>
    // oxlint-disable-next-line no-restricted-globals -- a test's own client, which nobody waits for
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return {
    simulator,
    url,
    post,
    pass(ms) {
      nowMs += ms;
    },
    // oxlint-disable-next-line no-restricted-globals -- a test's own client, which nobody waits for
    get: (path, headers = {}) => fetch(`${url}${path}`, { headers: { authorization, ...headers }, redirect: 'manual' }),
    async submit(script = '', changes = {}) {
      const { path, body } = submissions[vendor](script);
      // A lost answer loses no job: the control server knows it.
      const reply = await post(path, { ...body, ...changes }).catch(() => undefined);
      await reply?.bytes();
      return asText(simulator.videos().at(-1)?.['id']);
    },
  };
}

/** The JSON object of a reply. */
export async function readObject(reply: Response): Promise<JsonRecord> {
  return (await reply.json()) as JsonRecord;
}
