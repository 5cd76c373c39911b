/** A real fault occurs each time; interference by other programs does not. */
const timesMax = 3;

/**
 * Measures until a result is good, at most three times: other load on the machine can only make a measurement worse.
 * The caller asserts on the result: the first good one, or the last.
 * @param onWorse receives each result that was not good
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
