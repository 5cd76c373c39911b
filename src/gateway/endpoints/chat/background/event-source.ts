import type { BackgroundRuns, BackgroundStore } from './background-runs.ts';
import { endEvent, eventsOfResponse, isRunning, isTerminal, typeOfEvent } from './response-events.ts';

type EventPage = {
  /** The next events, without gaps. Empty if none came for a while. */
  readonly events: readonly string[];
  /** True if nothing follows. */
  readonly ended: boolean;
};

/** Events of one stored response, in whichever process it is generated. */
export type EventSource = {
  /** The events after a number, -1 for all. Waits a moment for some, and not longer than the signal allows. */
  readonly next: (after: number, signal: AbortSignal) => Promise<EventPage>;
};

/** The interval at which the store is polled for events of a response that another process generates. */
const pollMs = 150;
/** How long a follower of a response of this process waits before it checks its client. */
const liveWaitMs = 1000;
const pageEvents = 200;

const nothing: EventPage = { events: [], ended: false };

/**
 * Follows a response until its last event: in memory if this process generates it and the follower keeps up, otherwise
 * in the store. A response that ended without a last event, because its process died or another one cancelled it, gets
 * the event of its state.
 */
export function createEventSource(
  runs: Pick<BackgroundRuns, 'find' | 'conversations'>,
  { userName, id }: { readonly userName: string; readonly id: string },
): EventSource {
  const { conversations } = runs;
  return {
    next: async (after, signal) => {
      const run = runs.find(userName, id);
      if (run === undefined) return readStored(conversations, { userName, id, after, signal });
      let logged = run.log.after(after);
      if (logged?.events.length === 0 && !logged.ended) {
        await run.log.changed(liveWaitMs, signal);
        logged = run.log.after(after);
      }
      if (logged === undefined) return { events: await conversations.readEvents(userName, id, after, pageEvents), ended: false };
      return { events: logged.events, ended: logged.ended && !run.isLost };
    },
  };
}

type StoredQuery = { readonly userName: string; readonly id: string; readonly after: number; readonly signal: AbortSignal };

async function readStored(conversations: BackgroundStore, query: StoredQuery): Promise<EventPage> {
  const { userName, id, after, signal } = query;
  const page = await readPage(conversations, query);
  if (page !== undefined) return page;
  const stored = await conversations.findResponse(userName, id);
  if (stored === undefined) return { events: [], ended: true };
  if (isRunning(stored.status)) {
    await pause(signal);
    return nothing;
  }
  // Events may have been written between the two queries.
  const late = await readPage(conversations, query);
  if (late !== undefined) return late;
  if (after < 0) return { events: eventsOfResponse(stored.response), ended: true };
  const [last] = await conversations.readEvents(userName, id, after - 1, 1);
  if (last !== undefined) return { events: isTerminal(typeOfEvent(last)) ? [] : [endEvent(stored.response, after + 1)], ended: true };
  const [first] = await conversations.readEvents(userName, id, -1, 1);
  // Without any events it was not streamed, and they are derived from its output. With some, the number is behind its
  // end.
  return { events: first === undefined ? eventsOfResponse(stored.response).slice(after + 1) : [], ended: true };
}

async function readPage(conversations: BackgroundStore, { userName, id, after }: StoredQuery): Promise<EventPage | undefined> {
  const events = await conversations.readEvents(userName, id, after, pageEvents);
  const last = events.at(-1);
  return last === undefined ? undefined : { events, ended: isTerminal(typeOfEvent(last)) };
}

function pause(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, pollMs);
    signal.addEventListener('abort', finish, { once: true });
  });
}
