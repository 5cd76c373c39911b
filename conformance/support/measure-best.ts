/** A real fault shows each time; a neighbour on the machine does not. */
const timesMax = 3;

/**
 * Measures until a result is as it must be, at most three times: what else goes on on the machine only ever makes a measurement worse. The caller asserts on what comes back: the first good
 * result, else the last.
 * @param onWorse is told of each result that was not
 */
export async function measureBest<Result>(
  measure: () => Promise<Result> | Result,
  isGood: (result: Result) => boolean,
  onWorse: (result: Result) => void = () => {},
): Promise<Result> {
  for (let times = 1; ; times++) {
    const result = await measure();
    if (isGood(result) || times === timesMax) return result;
    onWorse(result);
  }
}
