import type { Charge } from '../../../billing/ledger/call-entry.ts';
import type { Usage } from '../../../inference/usage.ts';
import { silentLogger } from '../../../platform/log.ts';
import { seededRandom } from '../../../platform/seeded-random.ts';
import { createSealer } from '../../../platform/seal/sealer.ts';
import type { NewVideoTask } from '../../submit-task.ts';
import { defaultTaskSettings, type TaskSettings, type VideoTasksOptions, type Wait } from '../../task-parts.ts';
import type { VideoTask } from '../../video-task.ts';
import { type CrashPoint, SimulatedProcess } from './simulated-process.ts';
import { SimulatedStorage } from './simulated-storage.ts';
import { SimulatedStore } from './simulated-store.ts';
import { SimulatedUpstreams, type UpstreamScript } from './simulated-upstreams.ts';
import { VirtualTime } from './virtual-time.ts';

/** A second of video costs a millionth of a dollar, and an image half of it. */
export function simulatedCharge(usage: Usage): Charge {
  const amountNanoUsd = BigInt(usage.outputVideoMs ?? 0) + 500n * BigInt(usage.inputImages ?? 0);
  return { amountNanoUsd, lines: [], priceId: 'simulated' };
}

export const heldUsage: Usage = { outputVideoMs: 8700, inputImages: 2 };

/** A store, upstreams and a storage that several processes share, with virtual time. */
export class SimulatedWorld {
  readonly time = new VirtualTime();
  readonly store = new SimulatedStore();
  readonly storage = new SimulatedStorage(this.time.nowMs);
  readonly stories = new Map<string, UpstreamScript>();
  readonly random: () => number;
  readonly upstreams: SimulatedUpstreams;
  readonly sealer = createSealer(Buffer.alloc(32, 7));
  readonly settings: TaskSettings;
  crashPoint: () => CrashPoint = () => 'none';
  #ids = 0;

  constructor(seed: number, settings: Partial<TaskSettings> = {}) {
    this.random = seededRandom(seed);
    this.settings = { ...defaultTaskSettings, ...settings };
    this.upstreams = new SimulatedUpstreams({ nowMs: this.time.nowMs, random: this.random, stories: this.stories });
  }

  readonly newId = (prefix: string): string => `${prefix}_${(this.#ids += 1)}`;

  options(changed: Partial<VideoTasksOptions> = {}): VideoTasksOptions & { readonly wait: Wait } {
    return {
      store: this.store,
      upstreams: this.upstreams,
      storage: this.storage,
      clock: this.time,
      logger: silentLogger,
      newId: this.newId,
      random: this.random,
      sealer: this.sealer,
      settings: () => this.settings,
      retentionMs: () => 7 * 24 * 3_600_000,
      rate: (_task: VideoTask, usage: Usage) => ({ charge: simulatedCharge(usage) }),
      sealUrl: (url) => new Uint8Array(Buffer.from(url)),
      wait: this.time.wait,
      ...changed,
    };
  }

  startProcess(changed: Partial<VideoTasksOptions> = {}): SimulatedProcess {
    return new SimulatedProcess({ ...this.options(changed), wait: this.time.wait }, () => this.crashPoint());
  }

  /** Plans the request of a client, with the script of its video. */
  plan(script: UpstreamScript): NewVideoTask {
    const callId = this.newId('req');
    this.stories.set(callId, script);
    return {
      callId,
      userName: 'alice',
      keyId: 'key_1',
      keyName: 'first',
      form: 'video-generations',
      mode: 'text',
      requestedModel: 'vendor-imagine-video',
      upstream: 'xai',
      credentialId: 'first',
      vendor: 'xai',
      upstreamModel: 'grok-imagine-video',
      protocol: 'xai-videos',
      createdAtMs: this.time.nowMs(),
      priceVersion: '2026-11-01',
      pricingParameters: { resolution: '480p' },
      heldUsage,
      heldNanoUsd: 9700n,
      request: {
        prompt: 'a cat',
        metadata: '{}',
        callbackUrl: 'https://receiver.example/hook',
        ...(script.isIdempotent ? { submission: { path: '/videos', headers: {}, bodyBase64: 'e30=' } } : {}),
      },
    };
  }

  /**
   * The call of a client in a process: records the intent, submits it, and records the answer. Resolves with the
   * client's task, or undefined after an error; never if the process dies.
   */
  async submit(process: SimulatedProcess, intent: NewVideoTask, refused = false): Promise<VideoTask | undefined> {
    const { tasks } = process;
    let begun;
    try {
      begun = await tasks.begin(intent);
    } catch {
      return undefined;
    }
    const { task } = begun;
    if (refused) {
      await process.call(async () => {}).catch(() => {});
      await tasks.refuse(task, { upstreamStatus: 400, errorCode: 'upstream_refused_request', durationMs: 20 });
      return undefined;
    }
    let taken;
    try {
      taken = await process.call(async () => this.upstreams.submit(intent.callId));
    } catch {
      return await tasks.leaveUnclear(task);
    }
    return await tasks.accept(task, taken.upstreamTaskId, taken.reading);
  }
}

/** A script without failures. */
export const plainScript: UpstreamScript = {
  queuedMs: 3000,
  workMs: 30_000,
  end: 'completed',
  durationMs: 5000,
  tellsProgress: true,
  lies: 0,
  liesForMs: 0,
  isIdempotent: true,
  badFiles: 0,
  failsFirst: false,
};

/** A random script. */
export function anyScript(random: () => number): UpstreamScript {
  const lot = random();
  const end = lot < 0.8 ? 'completed' : lot < 0.88 ? 'failed' : lot < 0.96 ? 'moderated' : lot < 0.98 ? 'forgotten' : 'never';
  return {
    queuedMs: Math.floor(random() * 20_000),
    workMs: Math.floor(random() ** 3 * 200_000),
    end,
    durationMs: random() < 0.7 ? 1 + Math.floor(random() * 15_000) : undefined,
    tellsProgress: random() < 0.5,
    lies: random() < 0.5 ? 0 : random() * 0.6,
    liesForMs: 60_000,
    isIdempotent: random() < 0.5,
    badFiles: random() < 0.8 ? 0 : Math.floor(random() * 5),
    failsFirst: random() < 0.05,
  };
}
