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
  /** The id of the call that the result answers; an id that no call has where there is none. */
  readonly answer: (name: string, givenId: string | undefined, place: Place) => string;
};

export function createCallBook(): CallBook {
  const used = new Set<string>();
  let unanswered: readonly Call[] = [];
  let round = 0;

  const uniqueId = (wanted: string, { content, part }: Place): string => {
    let id = wanted;
    while (used.has(id)) id = `${id}_${content}_${part}`;
    used.add(id);
    return id;
  };

  // Two calls of one function are told apart by their order. Those of the latest round come first: earlier ones were given up.
  const findByName = (name: string): Call | undefined => {
    const named = unanswered.filter((call) => call.name === name);
    const latest = named.at(-1)?.round;
    return named.find((call) => call.round === latest);
  };

  return {
    beginRound: () => {
      round += 1;
    },
    addCall: (name, givenId, place) => {
      const id = uniqueId(givenId ?? `call_${place.content}_${place.part}`, place);
      unanswered = [...unanswered, { id, givenId, name, round }];
      return id;
    },
    answer: (name, givenId, place) => {
      const call = (givenId === undefined ? undefined : unanswered.find((candidate) => candidate.givenId === givenId)) ?? findByName(name);
      if (call === undefined) return givenId ?? `result_${place.content}_${place.part}`;
      unanswered = unanswered.filter((candidate) => candidate !== call);
      return call.id;
    },
  };
}
