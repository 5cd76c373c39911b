// A call's parts have ids made from its own: they sort by hand, and are found without an index of their own.

/** Rounds that a call can have at most: the bound of `tools.roundsMax`. */
const callRoundsMax = 100;

/** The id of the row of a round of a call, counted from 1. The first is the call's own. */
export function roundRowId(callId: string, round: number): string {
  return round === 1 ? callId : `${callId}.${round}`;
}

/** The id of the row of what tools did after a round. */
export function toolsRowId(callId: string, round: number): string {
  return `${callId}.${round}.tools`;
}

/** The id of the row that settles a disputed one. There is one for each, so that of two decisions the first stands. */
export function settlementRowId(rowId: string): string {
  return `${rowId}.settled`;
}

/** Ids of all rows that a call can have, its own first, in the order in which they came to be. What was settled follows what was disputed. */
export function rowIdsOf(callId: string): readonly string[] {
  return Array.from({ length: callRoundsMax }, (_, index) => {
    const rowId = roundRowId(callId, index + 1);
    return [rowId, settlementRowId(rowId), toolsRowId(callId, index + 1)];
  }).flat();
}
