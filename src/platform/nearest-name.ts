/** Longer names are not compared: they are not typed by hand, and the work grows with the product of two lengths. */
const charactersMax = 96;

/**
 * The known name that was probably meant. It differs only in case and punctuation, or by a few typing errors (a letter
 * added, missing, replaced, or two swapped). Undefined if no name is near, or if two are equally near.
 */
export function nearestName(asked: string, known: Iterable<string>): string | undefined {
  if (asked.length > charactersMax) return undefined;
  const plain = toPlain(asked);
  let best: string | undefined;
  let bestDistance = slipsMax(plain) + 1;
  let isTied = false;
  for (const name of known) {
    if (name === asked) return name;
    if (name.length > charactersMax || Math.abs(name.length - asked.length) > bestDistance + 8) continue;
    const distance = countSlips(plain, toPlain(name));
    if (distance < bestDistance) [best, bestDistance, isTied] = [name, distance, false];
    else if (distance === bestDistance && best !== undefined) isTied = true;
  }
  return isTied ? undefined : best;
}

const toPlain = (name: string): string => name.toLowerCase().replaceAll(/[\s_.-]/g, '');

/** One typing error in short names, more in long ones. Beyond that another name was meant. */
const slipsMax = (plain: string): number => Math.min(3, Math.max(1, Math.floor(plain.length / 4)));

/** Damerau-Levenshtein distance, where no part is edited twice. */
function countSlips(left: string, right: string): number {
  let [before, row] = [Array<number>(right.length + 1).fill(0), Array.from({ length: right.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const isSame = left[i - 1] === right[j - 1];
      let slips = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (isSwapped) slips = Math.min(slips, (before[j - 2] ?? 0) + 1);
      next.push(slips);
    }
    [before, row] = [row, next];
  }
  return row[right.length] ?? 0;
}
