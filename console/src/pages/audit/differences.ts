/** One value that a change added, took away, or replaced. Undefined: there was none, or there is none. */
export type Difference = { readonly path: string; readonly before: string | undefined; readonly after: string | undefined };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The values in an object by their paths: `limits.concurrency`. Lists are one value. */
function leavesOf(value: unknown, path = ''): ReadonlyMap<string, string> {
  if (!isObject(value)) return value === null || value === undefined ? new Map() : new Map([[path, wordOf(value)]]);
  return new Map(Object.entries(value).flatMap(([name, member]) => [...leavesOf(member, path === '' ? name : `${path}.${name}`)]));
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What a change changed: in the order of the object after it, then what it took away. Null is the same as nothing. */
export function differencesOf(before: unknown, after: unknown): readonly Difference[] {
  const [old, now] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...now.keys(), ...old.keys()])];
  return paths
    .map((path): Difference => ({ path, before: old.get(path), after: now.get(path) }))
    .filter((each) => each.before !== each.after);
}

/** A change in one line: `disabled: no value → true, and 2 more`. */
export function describeDifferences(differences: readonly Difference[]): string {
  const [first, ...rest] = differences;
  if (first === undefined) return '';
  const { path, before, after } = first;
  const name = path === '' ? '' : `${path}: `;
  const change = before === undefined ? (after ?? '') : `${before} → ${after ?? 'none'}`;
  return `${name}${change}${rest.length === 0 ? '' : `, and ${rest.length} more`}`;
}
