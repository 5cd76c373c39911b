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

/** Rankings of what a call's searches found that its receipt has room for. */
export const callRankingsMax = 64;

/** The id of the row of a ranking of what a search of a call found, counted from 1. */
export function rankingRowId(callId: string, ranking: number): string {
  return `${callId}.rank.${ranking}`;
}

/** The id of the row that settles a disputed one. There is one for each, so that of two decisions the first stands. */
export function settlementRowId(rowId: string): string {
  return `${rowId}.settled`;
}

/** Ids of all rows that a call can have, its own first, in the order in which they came to be. What was settled follows what was disputed. */
export function rowIdsOf(callId: string): readonly string[] {
  const rounds = Array.from({ length: callRoundsMax }, (_, index) => {
    const rowId = roundRowId(callId, index + 1);
    return [rowId, settlementRowId(rowId), toolsRowId(callId, index + 1)];
  });
  const rankings = Array.from({ length: callRankingsMax }, (_, index) => {
    const rowId = rankingRowId(callId, index + 1);
    return [rowId, settlementRowId(rowId)];
  });
  return [...rounds, ...rankings].flat();
}
