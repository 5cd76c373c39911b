type Call = { readonly id: string; readonly givenId: string | undefined; readonly name: string; readonly round: number };

/** The position of a part in the conversation. */
export type PartPosition = { readonly content: number; readonly part: number };

/**
 * Gives the calls of a conversation their ids and finds the call of a result. Ids are optional in this dialect. A call
 * without an id is named by its position, so that it has the same id in every later request of a growing conversation.
 */
export type CallBook = {
  /** A new round of calls begins with the next turn of the model. */
  readonly beginRound: () => void;
  readonly addCall: (name: string, givenId: string | undefined, place: PartPosition) => string;
  /** Whether every call with this id has its result, so that another result repeats one. */
  readonly isAnswered: (givenId: string) => boolean;
  /** Returns the id of the call of a result. If there is none, returns an id that no call has. */
  readonly answer: (name: string, givenId: string | undefined, place: PartPosition) => string;
};

export function createCallBook(): CallBook {
  const used = new Set<string>();
  /** Calls that wait for their results, by their given id and by name, in order. */
  const byGivenId = new Map<string, Set<Call>>();
  const byName = new Map<string, { readonly round: number; readonly calls: Set<Call> }[]>();
  /** The calls of the same name and round, for each call. */
  const alike = new Map<Call, Set<Call>>();
  let round = 0;

  const uniqueId = (requestedId: string, { content, part }: PartPosition): string => {
    let id = requestedId;
    while (used.has(id)) id = `${id}_${content}_${part}`;
    used.add(id);
    return id;
  };

  const wait = (call: Call): void => {
    const rounds = entryOf(byName, call.name, () => []);
    const last = rounds.at(-1);
    const calls = last?.round === call.round ? last.calls : new Set<Call>();
    if (last?.calls !== calls) rounds.push({ round: call.round, calls });
    calls.add(call);
    alike.set(call, calls);
    if (call.givenId !== undefined) entryOf(byGivenId, call.givenId, () => new Set<Call>()).add(call);
  };

  const forget = (call: Call): void => {
    alike.get(call)?.delete(call);
    if (call.givenId !== undefined) byGivenId.get(call.givenId)?.delete(call);
  };

  // Two calls of one function are identified by their order. Those of the latest round come first, because earlier ones
  // were abandoned.
  const findByName = (name: string): Call | undefined => {
    const rounds = byName.get(name) ?? [];
    while (rounds.at(-1)?.calls.size === 0) rounds.pop();
    return firstOf(rounds.at(-1)?.calls);
  };

  return {
    beginRound: () => {
      round += 1;
    },
    addCall: (name, givenId, place) => {
      const id = uniqueId(givenId ?? `call_${place.content}_${place.part}`, place);
      wait({ id, givenId, name, round });
      return id;
    },
    isAnswered: (givenId) => byGivenId.get(givenId)?.size === 0,
    answer: (name, givenId, place) => {
      const call = (givenId === undefined ? undefined : firstOf(byGivenId.get(givenId))) ?? findByName(name);
      if (call === undefined) return givenId ?? `result_${place.content}_${place.part}`;
      forget(call);
      return call.id;
    },
  };
}

function firstOf(calls: ReadonlySet<Call> | undefined): Call | undefined {
  return calls?.values().next().value;
}

/** Finds the entry of a key, or creates it. */
function entryOf<Key, Entry>(entries: Map<Key, Entry>, key: Key, create: () => Entry): Entry {
  const existing = entries.get(key);
  if (existing !== undefined) return existing;
  const entry = create();
  entries.set(key, entry);
  return entry;
}
