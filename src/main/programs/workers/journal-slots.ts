import { existsSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

import { createJournal } from '../../../billing/journal/create-journal.ts';
import { isDirectoryHeld } from '../../../billing/journal/lock-directory.ts';
import type { LostCallSettler } from '../../../billing/journal/settle-lost-call.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Store } from '../../../store/store.ts';
import { readNodeId, storeOfNode } from '../../assembly/open-credits.ts';

/** The journal of a gateway that is one process, and of the first worker of one that is several. */
export const firstSlot = 'journal';

const slotPattern = /^journal(?:-[1-9]\d*)?$/;
const segmentPattern = /^segment-\d+\.v\d+$/;
const shipMsMax = 30_000;

function slotName(index: number): string {
  return index === 0 ? firstSlot : `${firstSlot}-${index}`;
}

/** The first slot that is not among those `taken` and has no living holder, such as a worker that has outlived its primary. */
export function chooseSlot(dataDirectory: string, taken: ReadonlySet<string>): string {
  for (let index = 0; ; index += 1) {
    const slot = slotName(index);
    if (!taken.has(slot) && !isDirectoryHeld(join(dataDirectory, slot))) return slot;
  }
}

/** Slots that hold segments and have no holder: not one of those `taken`, and no living process. */
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
 * Recovers the journal that somebody left in a slot, ships it and empties the slot. What was set aside as damaged stays. Returns whether all of it is in the store; what is not
 * stays for the next attempt. Rejects when another process holds the slot.
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
  // Under this name the slot's process leased money.
  const nodeId = readNodeId(options.dataDirectory, slot);
  const directory = join(options.dataDirectory, slot);
  const store = storeOfNode(options.store, nodeId);
  const { journal, recovered } = await createJournal({ ...options, store, directory });
  try {
    await journal.drain(AbortSignal.timeout(shipMsMax));
    // All that was charged is in the books: what else it had leased is free again.
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

/** The journal is shipped and closed, and nobody but the caller's gateway uses slots of this data directory. */
function empty(directory: string, slot: string): void {
  for (const name of readdirSync(directory)) if (segmentPattern.test(name)) unlinkSync(join(directory, name));
  if (slot !== firstSlot && readdirSync(directory).length === 0) rmdirSync(directory);
}

/** Looks for journals that nobody holds any more, again and again. */
export type SlotRecovery = {
  /** Looks now. Resolves when it has looked. Never rejects. */
  readonly look: () => Promise<void>;
  readonly close: () => void;
};

const lookAgainMs = 5000;

/**
 * Has left journals recovered: at once and every few seconds, so that none is forgotten, whether no successor came for it, its holder took his time to die, or the store was down.
 * @param options.taken slots that have a holder or are about to
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
