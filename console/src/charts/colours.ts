const colours = 7;
const rest = 'var(--series-8)';
/** After the seventh series the colours come again, paler. */
const paler = ['66%', '40%'];

function hash(name: string): number {
  let value = 2166136261;
  for (let index = 0; index < name.length; index += 1) value = Math.imul(value ^ name.charCodeAt(index), 16777619);
  return value >>> 0;
}

/**
 * The colour of each series. A name has the same colour on all pages, unless a larger series of the chart has it.
 * @param names the largest first; undefined for what stands for all others
 */
export function coloursOf(names: readonly (string | undefined)[]): readonly string[] {
  let [taken, round] = [new Set<number>(), 0];
  return names.map((name) => {
    if (name === undefined) return rest;
    if (taken.size === colours) [taken, round] = [new Set(), Math.min(round + 1, paler.length)];
    let choice = hash(name) % colours;
    while (taken.has(choice)) choice = (choice + 1) % colours;
    taken.add(choice);
    const colour = `var(--series-${choice + 1})`;
    return round === 0 ? colour : `color-mix(in oklab, ${colour} ${paler[round - 1]}, var(--page))`;
  });
}
