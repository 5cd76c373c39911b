import type { VideoService } from '../../gateway/endpoints/videos/video-service.ts';
import type { PriceBook } from '../../billing/rating/rating.ts';
import { videoProtocols } from '../../dialects/video-tasks/video-protocols.ts';
import type { GatewaySettings } from '../../gateway/attempts/services.ts';
import { createSignedLinks } from '../../gateway/endpoints/shared/content/signed-links.ts';
import type { OpenAddress } from '../../gateway/endpoints/videos/upstream/open-result.ts';
import { createVideoUpstreams } from '../../gateway/endpoints/videos/upstream/video-upstreams.ts';
import type { Telemetry } from '../../gateway/telemetry/telemetry.ts';
import type { Clock } from '../../platform/clock.ts';
import { FetchMediaError } from '../../platform/http/fetch-media-error.ts';
import { openGuarded } from '../../platform/http/open-guarded.ts';
import type { Logger } from '../../platform/log.ts';
import { createSealer, deriveKey } from '../../platform/seal/sealer.ts';
import type { MediaMeter } from '../../platform/media/media-meter.ts';
import type { MediaStorage } from '../../tasks/media/media-storage.ts';
import type { Store } from '../../store/store.ts';
import type { CallbackVault } from '../../tasks/callbacks/callback-vault.ts';
import { createVideoTasks, type VideoTasks } from '../../tasks/create-video-tasks.ts';
import { measureVideo } from '../../tasks/media/measure-video.ts';
import { defaultTaskSettings, type TaskSettings } from '../../tasks/task-parts.ts';
import { ResultError } from '../../tasks/video-upstreams.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Number of past price books that are kept, because a task is charged by the prices at its beginning. */
const priceBooksMax = 16;

type Parts = {
  readonly environment: Environment;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: (prefix: string) => string;
  readonly settings: () => GatewaySettings;
  /** The storage of files. */
  readonly storage: MediaStorage;
  /** Seals the addresses of callbacks. */
  readonly sealUrl: CallbackVault['sealUrl'];
  readonly telemetry: Pick<Telemetry, 'booked'>;
  /** Measures videos of upstreams that do not report the length. */
  readonly meter: MediaMeter;
};

/**
 * Opens the video tasks, and begins to process open ones. Closed by `opened`. Throws StartError without a usable key.
 */
export async function openVideos(parts: Parts, opened: AsyncDisposableStack): Promise<VideoService> {
  const { environment, store, clock, logger, newId, settings, storage, meter } = parts;
  const key = loadStoreKey(environment);
  const prices = createPriceBooks(() => settings().routing.priceBook);
  const upstreams = createVideoUpstreams({
    routing: () => settings().routing,
    protocols: videoProtocols,
    openAddress: createOpenAddress(settings),
    timeouts: () => settings().timeouts,
  });
  const tasks = createVideoTasks({
    store,
    upstreams,
    storage,
    clock,
    logger,
    onEnded: (task) => void countEnd(parts, task.callId),
    newId,
    random: Math.random,
    sealer: createSealer(deriveKey(key, 'video tasks')),
    settings: () => taskSettings(settings()),
    retentionMs: () => settings().videos.retentionDays * day,
    rate: (task, usage) => {
      const book = prices.of(task.priceVersion);
      return { charge: book.rate({ ...task, acceptedAtMs: task.createdAtMs, usage }), priceVersion: book.version };
    },
    sealUrl: parts.sealUrl,
    measureMedia: (media, options) => measureVideo({ storage, meter }, media, options),
  });
  tasks.start();
  opened.defer(() => tasks.close());
  const begin: VideoTasks['begin'] = (intent, idempotency) => {
    prices.remember();
    return tasks.begin(intent, idempotency);
  };
  const links = createSignedLinks(deriveKey(key, 'links of videos'));
  return {
    tasks: { ...tasks, begin },
    store,
    storage,
    links,
    ledger: store,
    protocols: videoProtocols,
    gauges: tasks.gauges,
    leaving: new AbortController(),
  };
}

/**
 * Counts an ended video in the metrics, by its ledger entry. Only the process that ended it does this, so that it
 * counts once. A failure here does not affect the books.
 */
async function countEnd({ store, telemetry, logger }: Parts, callId: string): Promise<void> {
  try {
    const entry = await store.findEntry(callId);
    if (entry !== undefined) telemetry.booked(entry);
  } catch (error) {
    logger.warn({ callId, err: error }, 'counting a finished video failed');
  }
}

function taskSettings({ videos, timeouts }: GatewaySettings): TaskSettings {
  const { deadlineMinutes, giveUpHours, fileBytesMax, taskRetentionDays } = videos;
  const own = {
    deadlineMs: deadlineMinutes * minute,
    giveUpMs: giveUpHours * hour,
    fileBytesMax,
    taskRetentionMs: taskRetentionDays * day,
  };
  return { ...defaultTaskSettings, ...own, copyIdleMs: Math.min(timeouts.idleMs, defaultTaskSettings.copyIdleMs) };
}

/**
 * The price books of this process by their version. A task from before the start of this process uses the book in
 * force.
 */
function createPriceBooks(current: () => PriceBook): { readonly of: (version: string) => PriceBook; readonly remember: () => void } {
  const known = new Map<string, PriceBook>();
  return {
    of: (version) => known.get(version) ?? current(),
    remember: () => {
      const book = current();
      if (known.has(book.version)) return;
      const [oldest] = known.keys();
      if (known.size >= priceBooksMax && oldest !== undefined) known.delete(oldest);
      known.set(book.version, book);
    },
  };
}

/** Only these statuses mean that a file no longer exists. */
const goneWords = /\bstatus (?:404|410)\b/;

function createOpenAddress(settings: () => GatewaySettings): OpenAddress {
  return async (url, signal, isTrusted, headers = {}) => {
    const { firstByteMs, idleMs } = settings().timeouts;
    const { copyTotalMs } = defaultTaskSettings;
    try {
      const limits = { firstByteMs, idleMs, totalMs: copyTotalMs, signal };
      const { mediaType = '', bytes, content } = await openGuarded(url, { isTrusted, headers, ...limits });
      return { mediaType, bytes, content };
    } catch (error) {
      if (!(error instanceof FetchMediaError)) throw error;
      const isGone = error.problem === 'invalid-url' || error.problem === 'forbidden-host' || goneWords.test(error.message);
      throw new ResultError(`the result cannot be fetched: ${error.message}`, { isGone, cause: error });
    }
  };
}
