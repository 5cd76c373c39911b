import type { Clock } from '../../platform/clock.ts';
import { createDeliveryRounds } from '../../platform/delivery-rounds.ts';
import type { Logger } from '../../platform/log.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import type { ContentStore } from '../content-store.ts';
import type { ContentRecord } from '../records/content-record.ts';
import type { ContentSpool, SpooledBatch } from '../spool/content-spool.ts';
import type { ContentSink } from './content-sink.ts';

const defaults = { everyMs: 1000, timeoutMs: 30_000 };

export type ContentForwarderOptions = {
  readonly spool: ContentSpool;
  readonly store: Pick<ContentStore, 'listErasures'>;
  /** The name of this process among all of them: letters, digits, `_` and `-`. */
  readonly origin: string;
  /** The sinks of the configuration in force. */
  readonly sinks: () => readonly ContentSink[];
  /** How long a batch collects records. */
  readonly batchMs: () => number;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly onSent: (sink: string, records: number) => void;
  /** Time between two looks. */
  readonly everyMs?: number;
  /** Limit of sending one batch. */
  readonly timeoutMs?: number;
};

export type ContentForwarder = {
  /** Sends what is due to all sinks at the same time. Never rejects. */
  readonly round: () => Promise<void>;
  readonly start: () => void;
  readonly close: () => Promise<void>;
};

/**
 * Sends spooled batches to sinks, oldest first and at least once. A sink that fails is retried after growing pauses and
 * delays no other; a batch is deleted when all sinks have it. Records of a user whose content was erased are not sent.
 */
export function createContentForwarder(options: ContentForwarderOptions): ContentForwarder {
  const { spool, sinks, batchMs, clock, logger, onSent, origin } = options;
  const { everyMs, timeoutMs } = { ...defaults, ...options };
  const rounds = createDeliveryRounds({
    clock,
    everyMs,
    timeoutMs,
    onFailure: (sink, err) => logger.warn({ sink, err }, 'sending content to a sink failed'),
    onRecovery: (sink) => logger.info({ sink }, 'content sink works again'),
  });
  let completedMs = clock.monotonicMs();

  const sendBatch = async (sink: ContentSink, { number }: SpooledBatch): Promise<void> => {
    if ((await spool.sentTo(number)).includes(sink.name)) return;
    const records = await readWanted(options, sink.name, number);
    if (records.length > 0) await sink.send({ id: `${origin}-${number}`, records }, rounds.limit());
    await spool.noteSent(number, sink.name);
    onSent(sink.name, records.length);
  };
  const round = async (): Promise<void> => {
    try {
      if (clock.monotonicMs() - completedMs >= batchMs()) {
        await spool.completeBatch();
        completedMs = clock.monotonicMs();
      }
      const present = sinks();
      const batches = await spool.batches();
      // Without a sink, for example after a mistake in the configuration, batches wait.
      if (present.length === 0 || batches.length === 0) return;
      await rounds.deliver(present, async (sink) => {
        for (const batch of batches) if (!rounds.ended.aborted) await sendBatch(sink, batch);
      });
      await removeSent(spool, batches, present);
    } catch (error) {
      logger.warn({ err: error }, 'reading spooled content failed');
    }
  };
  return { round, start: () => rounds.start(round), close: rounds.close };
}

/** The records of a batch, without those of users whose content was erased. */
async function readWanted(
  { spool, store, logger }: ContentForwarderOptions,
  sink: string,
  number: number,
): Promise<readonly ContentRecord[]> {
  const { records: lines, damaged } = await spool.read(number);
  if (damaged > 0) logger.warn({ sink, records: damaged }, 'spooled content cannot be opened');
  const erasures = new Map((await store.listErasures()).map(({ userId, beforeMs }) => [userId, beforeMs]));
  return lines
    .flatMap((line) => readRecord(line) ?? [])
    .filter(({ user_id, at }) => Date.parse(at) >= (erasures.get(user_id) ?? -Infinity));
}

async function removeSent(spool: ContentSpool, batches: readonly SpooledBatch[], sinks: readonly ContentSink[]): Promise<void> {
  for (const batch of batches) {
    const sent = await spool.sentTo(batch.number);
    if (sinks.every(({ name }) => sent.includes(name))) await spool.remove(batch);
  }
}

function readRecord(line: Buffer): ContentRecord | undefined {
  const record = parseJsonObject(line);
  const { id, at, user, user_id } = record ?? {};
  if (typeof id !== 'string' || typeof at !== 'string' || typeof user !== 'string' || typeof user_id !== 'string') return undefined;
  return { ...record, id, at, user, user_id };
}
