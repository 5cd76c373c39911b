type Call = { readonly id: string; readonly givenId: string | undefined; readonly name: string; readonly round: number };

/** Where a part stands in the conversation. */
export type Place = { readonly content: number; readonly part: number };

/**
 * Gives the calls of a conversation their ids and finds the call that a result answers. Ids are optional in this dialect: a call without
 * one is named by its place, so that it has the same id in every later request of a conversation that grows.
 */
export type CallBook = {
  /** The model speaks again: what it calls now is another round. */
  readonly beginRound: () => void;
  readonly addCall: (name: string, givenId: string | undefined, place: Place) => string;
  /** Whether every call that was given this id has its result, so that another one is said twice. */
  readonly isAnswered: (givenId: string) => boolean;
  /** The id of the call that the result answers; an id that no call has where there is none. */
  readonly answer: (name: string, givenId: string | undefined, place: Place) => string;
};

export function createCallBook(): CallBook {
  const used = new Set<string>();
  /** Calls that wait for their results, by the id that they were given and by name, in the order in which they were made. */
  const byGivenId = new Map<string, Set<Call>>();
  const byName = new Map<string, { readonly round: number; readonly calls: Set<Call> }[]>();
  /** The calls of the same name and round, for each call. */
  const alike = new Map<Call, Set<Call>>();
  let round = 0;

  const uniqueId = (wanted: string, { content, part }: Place): string => {
    let id = wanted;
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

  // Two calls of one function are told apart by their order. Those of the latest round come first: earlier ones were given up.
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

/** The entry of a key, which is made where there is none. */
function entryOf<Key, Entry>(entries: Map<Key, Entry>, key: Key, create: () => Entry): Entry {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const entry = create();
  entries.set(key, entry);
  return entry;
}
