/** A member that a change has changed: its path, and both values as texts. */
export type Difference = { readonly path: string; readonly before: string | undefined; readonly after: string | undefined };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : typeof value === 'string' ? value : JSON.stringify(value);

/** The members in which two values differ, in the order of their names. Objects are compared member by member. */
export function findDifferences(before: unknown, after: unknown, path = ''): readonly Difference[] {
  if (isObject(before) || isObject(after)) {
    const [one, other] = [isObject(before) ? before : {}, isObject(after) ? after : {}];
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].toSorted();
    return names.flatMap((name) => findDifferences(one[name], other[name], path === '' ? name : `${path}.${name}`));
  }
  const [one, other] = [textOf(before), textOf(after)];
  return one === other ? [] : [{ path, before: one, after: other }];
}
