import { existsSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

import { createJournal } from '../../../billing/journal/create-journal.ts';
import { isDirectoryHeld } from '../../../billing/journal/lock-directory.ts';
import type { LostCallSettler } from '../../../billing/journal/settle-lost-call.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Store } from '../../../store/store.ts';
import { readNodeId, storeOfNode } from '../../assembly/open-credits.ts';

/** The journal of a gateway with one process, and of the first of several workers. */
export const firstSlot = 'journal';

const slotPattern = /^journal(?:-[1-9]\d*)?$/;
const segmentPattern = /^segment-\d+\.v\d+$/;
const shipMsMax = 30_000;

function slotName(index: number): string {
  return index === 0 ? firstSlot : `${firstSlot}-${index}`;
}

/** The first slot that is not `taken` and has no living holder, such as a worker that has outlived its primary. */
export function chooseSlot(dataDirectory: string, taken: ReadonlySet<string>): string {
  for (let index = 0; ; index += 1) {
    const slot = slotName(index);
    if (!taken.has(slot) && !isDirectoryHeld(join(dataDirectory, slot))) return slot;
  }
}

/** Slots with segments and without a holder: not `taken`, and without a living process. */
function findLeftSlots(dataDirectory: string, taken: ReadonlySet<string>): readonly string[] {
  return readdirSync(dataDirectory)
    .filter((slot) => slotPattern.test(slot) && !taken.has(slot))
    .filter((slot) => hasSegments(join(dataDirectory, slot)) && !isDirectoryHeld(join(dataDirectory, slot)));
}

/** Whether there is anything to recover. */
export function hasSegments(directory: string): boolean {
  return existsSync(directory) && readdirSync(directory).some((name) => segmentPattern.test(name));
}

/**
 * Recovers an abandoned journal in a slot, ships it and empties the slot. Damaged segments stay. Returns whether all of
 * it is in the store; the rest stays for the next attempt. Rejects if another process holds the slot.
 */
export async function recoverSlot(options: {
  readonly dataDirectory: string;
  readonly slot: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settleLost: LostCallSettler;
}): Promise<boolean> {
  const { slot, logger } = options;
  // The slot's process leased credit under this id.
  const nodeId = readNodeId(options.dataDirectory, slot);
  const directory = join(options.dataDirectory, slot);
  const store = storeOfNode(options.store, nodeId);
  const { journal, recovered } = await createJournal({ ...options, store, directory });
  try {
    await journal.drain(AbortSignal.timeout(shipMsMax));
    // All its charges are in the books, so the rest of its leases is released.
    await store.releaseCreditNode({ nodeId });
  } catch (error) {
    logger.warn({ err: error, slot }, 'shipping an abandoned journal failed');
    return false;
  } finally {
    await journal.close();
  }
  empty(directory, slot);
  const lost = recovered.lostAnswered + recovered.lostUnanswered + recovered.lostFailed;
  if (lost > 0) logger.warn({ slot, ...recovered }, 'calls of a dead worker settled from its journal');
  return true;
}

/** Requires that the journal is shipped and closed, and that only this gateway uses slots of this data directory. */
function empty(directory: string, slot: string): void {
  for (const name of readdirSync(directory)) if (segmentPattern.test(name)) unlinkSync(join(directory, name));
  if (slot !== firstSlot && readdirSync(directory).length === 0) rmdirSync(directory);
}

/** Searches periodically for abandoned journals. */
export type SlotRecovery = {
  /** Searches now. Never rejects. */
  readonly look: () => Promise<void>;
  readonly close: () => void;
};

const lookAgainMs = 5000;

/**
 * Recovers abandoned journals: at once and every few seconds, so that none is forgotten because of a missing successor,
 * a holder that dies slowly, or an outage of the store.
 * @param options.taken slots that have a holder or will have one
 * @param options.recover see recoverSlot
 */
export function createSlotRecovery(options: {
  readonly dataDirectory: string;
  readonly taken: () => ReadonlySet<string>;
  readonly recover: (slot: string) => Promise<boolean>;
  readonly logger: Logger;
}): SlotRecovery {
  const { dataDirectory, taken, recover, logger } = options;
  let running: Promise<void> | undefined;
  let closed = false;
  const recoverOne = async (slot: string): Promise<void> => {
    try {
      await recover(slot);
    } catch (error) {
      logger.warn({ err: error, slot }, 'recovering an abandoned journal failed');
    }
  };
  const recoverAll = async (): Promise<void> => {
    for (const slot of findLeftSlots(dataDirectory, taken())) if (!closed) await recoverOne(slot);
  };
  const look = (): Promise<void> => {
    running ??= recoverAll()
      .catch((error: unknown) => logger.error({ err: error }, 'searching for abandoned journals failed'))
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const timer = setInterval(() => void look(), lookAgainMs).unref();
  void look();
  return {
    look,
    close: () => {
      closed = true;
      clearInterval(timer);
    },
  };
}
