import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { contentModeOf } from '../../../accounts/content-mode.ts';
import { isDirectoryHeld } from '../../../billing/journal/lock-directory.ts';
import type { CaptureStore } from '../../../content/captures/capture.ts';
import type { ContentStore } from '../../../content/content-store.ts';
import type { ContentSink } from '../../../content/delivery/content-sink.ts';
import { createContentForwarder } from '../../../content/delivery/forward-content.ts';
import { removeObjects } from '../../../content/delivery/remove-objects.ts';
import { type ContentKeeper, createContentKeeper } from '../../../content/keep-content.ts';
import type { OwnPattern } from '../../../content/masking/own-patterns.ts';
import { ContentSpool } from '../../../content/spool/content-spool.ts';
import { createCallRecorder } from '../../../gateway/recording/create-call-recorder.ts';
import { RecordingMemory } from '../../../gateway/recording/recorded-wire.ts';
import type { Recording } from '../../../gateway/recording/recording.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type { MetricRegistry } from '../../../platform/metrics/metric-registry.ts';
import { createSealer, deriveKey } from '../../../platform/seal/sealer.ts';
import type { Config } from '../../config/config-schema.ts';
import type { ContentConfig } from '../../config/content-schema.ts';
import type { Environment } from '../../environment.ts';
import { loadStoreKey } from '../load-store-key.ts';
import { openCaptures, type OpenedCaptures } from './open-captures.ts';
import { createContentSink, type OpenedSink } from './content-sinks.ts';
import { describeCall } from './describe-call.ts';

type ContentParts = {
  readonly environment: Environment;
  readonly store: ContentStore & CaptureStore & { readonly databaseId: () => Promise<string> };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: () => Config;
  /** The id of the data directory, a slash, and the journal slot, which no other process uses meanwhile. */
  readonly nodeId: string;
  readonly random: () => number;
  readonly registry: MetricRegistry | undefined;
  /** Reports calls that ended just now. */
  readonly flushCalls: () => void;
};

const spoolFolder = 'content';
const defaults = { ceiling: 'off', sample: 1, batchSeconds: 30, callBytesMax: 8 * 1024 * 1024, spoolBytesMax: 1024 ** 3 } as const;
/** The memory of all bodies of running and waiting calls together. */
const memoryBytesMax = 128 * 1024 * 1024;
const sweepEveryMs = 5000;
const dayMs = 86_400_000;

/**
 * Opens the recording of prompts and replies. While the configuration records nothing, each call costs one comparison.
 * `opened` closes it, after what was recorded is in the spool.
 */
export async function openContent(parts: ContentParts, opened: AsyncDisposableStack): Promise<Recording> {
  const { environment, clock, logger, config, random, registry } = parts;
  const spool = await ContentSpool.open({
    directory: join(environment.dataDirectory, spoolFolder, slotOf(parts)),
    sealer: createSealer(deriveKey(loadStoreKey(environment), 'content spool')),
    clock,
    bytesMax: () => config().content?.spoolBytesMax ?? defaults.spoolBytesMax,
  });
  opened.defer(() => spool.close());
  const captures = openCaptures(parts, opened);
  const keeper = createContentKeeper({ spool, clock, logger });
  const sinks = createSinkTable(parts);
  const sent = openForwarder({ ...parts, spool, sinks }, opened);
  openSweeper({ ...parts, spool, sinks }, opened);
  opened.defer(async () => {
    parts.flushCalls();
    await keeper.close();
  });
  if (registry !== undefined) addContentMetrics(registry, { keeper, spool, sent });
  const memory = new RecordingMemory(memoryBytesMax);
  const state = followState(config, () => sinks().length > 0);
  return { begin: createBegin({ memory, state, random, keeper, captures }) };
}

/** Decides about one call: whether its content is recorded, its wires are captured, or both. */
function createBegin(parts: {
  readonly memory: RecordingMemory;
  readonly state: ReturnType<typeof followState>;
  readonly random: () => number;
  readonly keeper: ContentKeeper;
  readonly captures: OpenedCaptures;
}): Recording['begin'] {
  const { memory, state, random, keeper, captures } = parts;
  const { follower, wireBytesMax } = captures;
  return (caller, report, request) => {
    const { isOn, content } = state();
    if (!isOn && !follower.isAny()) return;
    const chosen = isOn ? contentModeOf(caller, content.ceiling ?? defaults.ceiling) : 'off';
    const mode = chosen === 'off' || random() >= (content.sample ?? defaults.sample) ? 'off' : chosen;
    const capture = follower.take(caller.id);
    if (mode === 'off' && capture === undefined) return;
    const bytesMax = content.callBytesMax ?? defaults.callBytesMax;
    report.recorder = createCallRecorder(report, {
      memory,
      bytesMax: mode === 'off' ? wireBytesMax : bytesMax,
      ...(capture === undefined ? {} : { wires: { request, bytesMax: wireBytesMax } }),
      onEnded: (call, { wires, credentials, ...bodies }) => {
        if (capture !== undefined && wires !== undefined)
          captures.keeper.keep({ callId: report.callId, atMs: report.acceptedAtMs, wires }, { capture, credentials });
        const facts = mode === 'off' ? undefined : describeCall(call, caller);
        if (facts === undefined || mode === 'off') return;
        const { chat, request: sent, reply } = bodies;
        keeper.keep({ facts, mode, ...(chat && { chat }), ...(sent && { request: sent }), ...(reply && { reply }) }, patternsOf(content));
      },
    });
  };
}

function slotOf({ nodeId }: Pick<ContentParts, 'nodeId'>): string {
  return nodeId.slice(nodeId.indexOf('/') + 1);
}

const noContent: ContentConfig = {};

/** Whether anything is recorded, found once for each configuration. */
function followState(config: () => Config, hasSinks: () => boolean): () => { readonly isOn: boolean; readonly content: ContentConfig } {
  let seen: Config | undefined;
  let state = { isOn: false, content: noContent };
  return () => {
    const present = config();
    if (present === seen) return state;
    seen = present;
    const content = present.content ?? noContent;
    state = { content, isOn: (content.ceiling ?? defaults.ceiling) !== 'off' && hasSinks() };
    return state;
  };
}

function patternsOf({ patterns = [] }: ContentConfig): readonly OwnPattern[] {
  return patterns;
}

/** The sinks of the configuration in force. A sink whose configuration is the same stays open. */
function createSinkTable({ config, ...parts }: ContentParts): () => readonly OpenedSink[] {
  const opened = new Map<string, OpenedSink>();
  const { environment, store, clock } = parts;
  let seen: Config | undefined;
  let present: readonly OpenedSink[] = [];
  return () => {
    if (config() === seen) return present;
    seen = config();
    present = Object.entries(seen.content?.sinks ?? {}).map(([name, sink]) =>
      opened.getOrInsertComputed(JSON.stringify([name, sink]), () =>
        createContentSink(name, sink, { store, clock, dataDirectory: environment.dataDirectory }),
      ),
    );
    return present;
  };
}

type Opened = ContentParts & { readonly spool: ContentSpool; readonly sinks: () => readonly OpenedSink[] };

/** @returns records that each sink has received */
function openForwarder(parts: Opened, opened: AsyncDisposableStack): ReadonlyMap<string, number> {
  const { spool, store, clock, logger, config, nodeId, sinks } = parts;
  const sent = new Map<string, number>();
  const forwarder = createContentForwarder({
    spool,
    store,
    clock,
    logger,
    origin: nodeId.replaceAll(/[^A-Za-z0-9_-]/g, '-'),
    sinks: (): readonly ContentSink[] => sinks().map(({ sink }) => sink),
    batchMs: () => (config().content?.batchSeconds ?? defaults.batchSeconds) * 1000,
    onSent: (sink, records) => sent.set(sink, (sent.get(sink) ?? 0) + records),
  });
  forwarder.start();
  opened.defer(() => forwarder.close());
  return sent;
}

/** Deletes erased and old objects, and takes over the spools of workers that are gone, every few seconds. */
function openSweeper({ environment, nodeId, spool, store, clock, logger, sinks }: Opened, opened: AsyncDisposableStack): void {
  const end = new AbortController();
  const sweep = async (): Promise<void> => {
    for (const { sink, place, retentionDays } of sinks()) {
      if (place === undefined) continue;
      const beforeMs = retentionDays === undefined ? undefined : clock.nowMs() - retentionDays * dayMs;
      try {
        const removed = await removeObjects(await place(), store, { beforeMs, signal: end.signal });
        if (removed > 0) logger.info({ sink: sink.name, objects: removed }, 'recorded content deleted');
      } catch (error) {
        if (!end.signal.aborted) logger.warn({ sink: sink.name, err: error }, 'deleting recorded content failed');
      }
    }
    for (const directory of findLeftSpools(environment.dataDirectory, slotOf({ nodeId }))) await spool.adopt(directory);
  };
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(sweep).catch((error: unknown) => logger.warn({ err: error }, 'taking over spooled content failed'));
  }, sweepEveryMs).unref();
  opened.defer(async () => {
    clearInterval(timer);
    end.abort(new Error('the gateway ends'));
    await running;
  });
}

/** Spools of other journal slots that have no living process. */
function findLeftSpools(dataDirectory: string, own: string): readonly string[] {
  const folder = join(dataDirectory, spoolFolder);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((slot) => slot !== own && !isDirectoryHeld(join(dataDirectory, slot)))
    .map((slot) => join(folder, slot));
}

function addContentMetrics(
  registry: MetricRegistry,
  { keeper, spool, sent }: { readonly keeper: ContentKeeper; readonly spool: ContentSpool; readonly sent: ReadonlyMap<string, number> },
): void {
  registry.collected({
    name: 'weir_content_calls_total',
    help: 'Calls whose content was to be recorded, by result: spooled, or not recorded and why.',
    labels: ['result'],
    type: 'counter',
    read: () => {
      const { spooled, spoolFull, busy, failed } = keeper.counts;
      return Object.entries({ spooled, spool_full: spoolFull, busy, failed }).map(([result, value]) => ({ labels: [result], value }));
    },
  });
  registry.collected({
    name: 'weir_content_sent_total',
    help: 'Records of content that a sink has received, by sink.',
    labels: ['sink'],
    type: 'counter',
    read: () => [...sent].map(([sink, value]) => ({ labels: [sink], value })),
  });
  registry.collected({
    name: 'weir_content_spool_bytes',
    help: 'Bytes of content that wait for sinks.',
    type: 'gauge',
    read: () => [{ labels: [], value: spool.bytes }],
  });
}
