import type { Clock } from '../../../../platform/clock.ts';
import { sizeOfTurn } from './vaulted-turn.ts';
import type { VaultedTurn } from './vaulted-turn.ts';

/** The state of a call in memory: its turn, or (`turn` undefined) that it has none, and for how long that is valid. */
type HeldTurn = { readonly turn: VaultedTurn | undefined; readonly leftMs: number };

/** Turns by user and call id. The least recently used are dropped first. */
export type TurnMemory = {
  readonly put: (userName: string, callIds: readonly string[], turn: VaultedTurn | undefined, keptMs: number) => void;
  /** Undefined if memory has no information about the call. */
  readonly get: (userName: string, callId: string) => HeldTurn | undefined;
};

/** The approximate size of an entry and of each of its names, besides their texts. */
const entryBytes = 300;
const nameBytes = 150;

type Entry = {
  readonly names: readonly string[];
  readonly turn: VaultedTurn | undefined;
  readonly bytes: number;
  readonly untilMs: number;
  /** The number of names that no later entry has taken over. */
  ownNames: number;
};

export function createTurnMemory(options: { readonly bytesMax: number; readonly clock: Clock }): TurnMemory {
  const { bytesMax, clock } = options;
  const entriesByName = new Map<string, Entry>();
  /** In order of use, the oldest first. */
  const entries = new Set<Entry>();
  let bytes = 0;

  function remove(entry: Entry): void {
    if (!entries.delete(entry)) return;
    bytes -= entry.bytes;
    // A name that a later turn took over belongs to that turn.
    for (const name of entry.names) if (entriesByName.get(name) === entry) entriesByName.delete(name);
  }

  return {
    put: (userName, callIds, turn, keptMs) => {
      const names = [...new Set(callIds)].map((callId) => nameCall(userName, callId));
      const textBytes = names.reduce((sum, name) => sum + 2 * name.length + nameBytes, entryBytes);
      const entry: Entry = {
        names,
        turn,
        bytes: textBytes + (turn === undefined ? 0 : sizeOfTurn(turn)),
        untilMs: clock.monotonicMs() + keptMs,
        ownNames: names.length,
      };
      for (const name of names) {
        const earlier = entriesByName.get(name);
        entriesByName.set(name, entry);
        if (earlier === undefined) continue;
        earlier.ownNames -= 1;
        if (earlier.ownNames === 0) remove(earlier);
      }
      entries.add(entry);
      bytes += entry.bytes;
      for (const oldest of entries) {
        if (bytes <= bytesMax) break;
        remove(oldest);
      }
    },
    get: (userName, callId) => {
      const entry = entriesByName.get(nameCall(userName, callId));
      if (entry === undefined) return undefined;
      const leftMs = entry.untilMs - clock.monotonicMs();
      if (leftMs <= 0) {
        remove(entry);
        return undefined;
      }
      entries.delete(entry);
      entries.add(entry);
      return { turn: entry.turn, leftMs };
    },
  };
}

/** The length separates "a" + "bc" from "ab" + "c". */
function nameCall(userName: string, callId: string): string {
  return `${userName.length}:${userName}${callId}`;
}
