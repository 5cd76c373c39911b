const colours = 7;
const rest = 'var(--series-8)';

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
  const taken = new Set<number>();
  return names.map((name) => {
    if (name === undefined) return rest;
    const own = hash(name) % colours;
    let choice = own;
    while (taken.has(choice) && taken.size < colours) choice = (choice + 1) % colours;
    taken.add(choice);
    return `var(--series-${choice + 1})`;
  });
}
