// The ids of a call's parts are derived from its own: they sort after it, and are found without a separate index.

/** The most rounds of a call: the upper bound of `tools.roundsMax`. */
const callRoundsMax = 100;

/** The id of the row of a round of a call, counted from 1. The first is the call's own. */
export function roundRowId(callId: string, round: number): string {
  return round === 1 ? callId : `${callId}.${round}`;
}

/** The id of the row for the use of tools after a round. */
export function toolsRowId(callId: string, round: number): string {
  return `${callId}.${round}.tools`;
}

/** The most rankings of search results that a receipt of a call includes. */
export const callRankingsMax = 64;

/** The id of the row of a ranking of search results, counted from 1. */
export function rankingRowId(callId: string, ranking: number): string {
  return `${callId}.rank.${ranking}`;
}

/** Images of a call's tools that its receipt has room for. */
export const callImagesMax = 64;

/** The id of the row of an image that a tool of a call made, counted from 1. */
export function imageRowId(callId: string, image: number): string {
  return `${callId}.${image}.image`;
}

/** The id of the row that settles a disputed row. There is only one, so the first of two decisions wins. */
export function settlementRowId(rowId: string): string {
  return `${rowId}.settled`;
}

/**
 * The ids of all rows that a call can have: its own first, in order of creation. A settlement follows its disputed row.
 */
export function rowIdsOf(callId: string): readonly string[] {
  const rounds = Array.from({ length: callRoundsMax }, (_, index) => {
    const rowId = roundRowId(callId, index + 1);
    return [rowId, settlementRowId(rowId), toolsRowId(callId, index + 1)];
  });
  const rankings = Array.from({ length: callRankingsMax }, (_, index) => {
    const rowId = rankingRowId(callId, index + 1);
    return [rowId, settlementRowId(rowId)];
  });
  const images = Array.from({ length: callImagesMax }, (_, index) => {
    const rowId = imageRowId(callId, index + 1);
    return [rowId, settlementRowId(rowId)];
  });
  return [...rounds, ...rankings, ...images].flat();
}
