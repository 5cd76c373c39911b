import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ApiKey } from '../../../../accounts/api-key.ts';
import type { CallEntry, CallOpening } from '../../../../billing/ledger/call-entry.ts';
import { loadShippedPriceBook } from '../../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../../billing/rating/price-book.ts';
import type { VideoProtocolId } from '../../../../dialects/video-tasks/video-protocol.ts';
import { videoProtocols } from '../../../../dialects/video-tasks/video-protocols.ts';
import type { VideoRequest } from '../../../../inference/video.ts';
import type { UpstreamRequest } from '../../../../platform/http/upstream-client.ts';
import { silentLogger } from '../../../../platform/log.ts';
import { createSealer } from '../../../../platform/seal/sealer.ts';
import { createVideoTasks, type VideoTasks } from '../../../../tasks/create-video-tasks.ts';
import { createFakeTaskStore, type FakeTaskStore } from '../../../../tasks/testing/fake-task-store.ts';
import type { MediaStorage } from '../../../../tasks/media/media-storage.ts';
import { defaultTaskSettings } from '../../../../tasks/task-parts.ts';
import { createFakeUpstream } from '../../../attempts/exchange/testing/fake-exchange.ts';
import { defaultLimits, defaultOverload, defaultRetries, defaultTimeouts } from '../../../settings/limits.ts';
import { createGateway, createMemoryJournal } from '../../../attempts/retry/testing/fake-attempts.ts';
import { createRoutingTable } from '../../../attempts/routing/routing-table.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { createSignedLinks } from '../../shared/content/signed-links.ts';
import type { VideoContext } from '../video-context.ts';
import { defaultVideoSettings } from '../../../settings/call-settings.ts';

/** An upstream's answer, or the code of its error. */
export type FakeAnswer = { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } | string;

export type FakeVideoUpstream = { readonly id: string; readonly protocol?: VideoProtocolId; readonly answers: FakeAnswer[] };

type SentToUpstream = { readonly to: string; readonly request: UpstreamRequest };

export type FakeVideos = {
  readonly context: VideoContext;
  readonly targets: readonly Target[];
  readonly sent: SentToUpstream[];
  readonly store: FakeTaskStore;
  readonly tasks: VideoTasks;
  readonly files: Map<string, Buffer>;
};

const fakeCaller: ApiKey = {
  id: 'k',
  name: 'key',
  hint: 'k',
  userId: 'u',
  userName: 'user',
  createdAtMs: 0,
  strictTranslation: false,
};

function createTarget({ id, protocol = 'xai-videos', answers }: FakeVideoUpstream, sent: SentToUpstream[]): Target {
  const submitted = createFakeUpstream(
    { vendor: 'xai' },
    {
      send: (request, handler) => {
        sent.push({ to: id, request });
        const controller = { abort: () => {}, pause: () => {}, resume: () => {} };
        handler.onRequestStart(controller);
        const answer = answers.shift() ?? 'ECONNREFUSED';
        queueMicrotask(() => {
          if (typeof answer === 'string') return handler.onResponseError(controller, Object.assign(new Error(answer), { code: answer }));
          handler.onResponseStart(controller, answer.status, { ...answer.headers });
          handler.onResponseData(controller, Buffer.from(JSON.stringify(answer.body ?? {})));
          handler.onResponseEnd(controller);
        });
      },
      close: () => Promise.resolve(),
    },
  );
  return { upstream: { ...submitted, id, credentialId: id, services: { videos: protocol } }, upstreamModel: 'grok-imagine-video' };
}

/** A storage in memory. */
function createFakeStorage(files: Map<string, Buffer>): MediaStorage {
  return {
    write: async (key, source) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of source) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      files.set(key, bytes);
      return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
    },
    open: (key, range) => {
      const file = files.get(key);
      if (file === undefined) return Promise.resolve(undefined);
      const part = range === undefined ? file : file.subarray(range.start, range.end + 1);
      return Promise.resolve(
        (async function* pieces() {
          for (let at = 0; at < part.length; at += 1000) yield part.subarray(at, at + 1000);
        })(),
      );
    },
    remove: async (key) => void files.delete(key),
    listOlderThan: () => Promise.resolve([]),
  };
}

const fakeSettings = {
  limits: defaultLimits,
  timeouts: defaultTimeouts,
  retries: defaultRetries,
  overload: defaultOverload,
  validation: 'compatible',
  responseRetentionDays: 30,
  videos: defaultVideoSettings,
} as const;

/** A video request at scripted upstreams, with tasks in memory. */
export function createFakeVideos(upstreams: readonly FakeVideoUpstream[]): FakeVideos {
  const sent: SentToUpstream[] = [];
  const targets = upstreams.map((upstream) => createTarget(upstream, sent));
  let nowMs = Date.UTC(2026, 10, 22);
  const clock = { nowMs: () => nowMs++, monotonicMs: () => nowMs };
  const [openings, entries]: [CallOpening[], CallEntry[]] = [[], []];
  let ids = 0;
  const newId = (prefix: string): string => `${prefix}_${(ids += 1)}`;
  const gateway = { ...createGateway(clock, createMemoryJournal(openings, entries)), newId };
  const store = createFakeTaskStore();
  const files = new Map<string, Buffer>();
  const storage = createFakeStorage(files);
  const priceBook = createPriceBook({ book: loadShippedPriceBook() });
  const tasks = createVideoTasks({
    store,
    storage,
    clock,
    newId,
    logger: silentLogger,
    random: () => 0.5,
    upstreams: {
      ask: () => Promise.resolve({ status: 'unclear', reason: 'nobody asks', isOurs: false }),
      submitAgain: () => Promise.resolve(undefined),
      openResult: () => Promise.reject(new Error('there is no file')),
    },
    sealer: createSealer(Buffer.alloc(32, 1)),
    settings: () => defaultTaskSettings,
    retentionMs: () => 1000,
    rate: () => ({ charge: { amountNanoUsd: 0n, lines: [] } }),
    sealUrl: () => new Uint8Array(),
  });
  const routing = createRoutingTable({
    upstreams: targets.map(({ upstream }) => upstream),
    models: [{ name: 'm', targets }],
    priceBook,
    configuredAtMs: 0,
  });
  const context: VideoContext = {
    gateway,
    videos: {
      tasks,
      store,
      storage,
      links: createSignedLinks(Buffer.alloc(32, 2)),
      ledger: store,
      protocols: videoProtocols,
      gauges: tasks.gauges,
      leaving: new AbortController(),
    },
    settings: { ...fakeSettings, routing },
    caller: fakeCaller,
    admission: { release: () => {}, holdBytes: () => true, releaseBytes: () => {} },
    request: { headers: {}, method: 'GET' } as unknown as IncomingMessage,
    response: {} as unknown as ServerResponse,
    callId: 'req_client',
    query: new URLSearchParams(),
    baseUrl: 'http://weir.example',
    signal: new AbortController().signal,
    report: undefined,
  };
  return { context, targets, sent, store, tasks, files };
}

/** A request for a video from text, with changes. */
export function fakeRequest(more: Partial<VideoRequest> = {}): VideoRequest {
  return { form: 'video-generations', mode: 'text', requestedModel: 'm', prompt: 'a cat', images: [], metadata: '{}', ...more };
}
