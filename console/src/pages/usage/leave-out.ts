import type { Body } from '../../api/client.ts';
import { many, type Search } from '../../components/search-params.ts';

type Filters = NonNullable<Body<'usage.query'>['filters']>;

/** A parameter with this beginning excludes what the parameter without it selects. */
export const excludedPrefix = 'not.';

/** A group of two names that is left out, as the address has it: `user=ann&model=gpt-5`. It may repeat. */
export const withoutName = 'without';

/** The names of a group as pairs of a filter and its value. A key has two names, and is one value: `ann/app`. */
function pairsOf(groups: readonly string[], names: readonly string[]): readonly (readonly [filter: string, value: string])[] {
  let next = 0;
  return groups.map((group) => {
    const name = names[next++] ?? '';
    if (group === 'key') return ['key', `${name}/${names[next++] ?? ''}`];
    return group.startsWith('tag:') ? ['tag', `${group.slice('tag:'.length)}=${name}`] : [group, name];
  });
}

/** Whether a group can be selected and left out: only teams and tags have calls without a name. */
export function canLeaveOut(groups: readonly string[], names: readonly string[]): boolean {
  return pairsOf(groups, names).every(([filter, value]) => value !== '' || filter === 'team');
}

/** The parameters that select a group. Two values of one filter cannot be asked for together: the first one stays. */
export function narrowTo(groups: readonly string[], names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(pairsOf(groups, names).toReversed());
}

/** The parameters without a group. One name is excluded alone; of two, the calls that have both. */
export function leaveOut(search: Search, groups: readonly string[], names: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const [first, second] = pairsOf(groups, names);
  if (first === undefined) return {};
  const [parameter, value] =
    second === undefined
      ? [`${excludedPrefix}${first[0]}`, first[1]]
      : [withoutName, new URLSearchParams([[...first], [...second]]).toString()];
  return { [parameter]: [...new Set([...many(search, parameter), value])] };
}

/** The groups of two names that the address leaves out. What cannot be read is passed over. */
export function readWithout(search: Search, filters: readonly string[]): readonly Filters[] {
  return many(search, withoutName).flatMap((text) => {
    const read: Record<string, string[]> = {};
    for (const [name, value] of new URLSearchParams(text)) if (filters.includes(name)) (read[name] ??= []).push(value);
    return Object.keys(read).length === 0 ? [] : [read];
  });
}

/** `user ann, model gpt-5`, for the chip of a group that is left out. */
export const wordWithout = (text: string): string =>
  [...new URLSearchParams(text)].map(([name, value]) => `${name} ${value === '' ? '(none)' : value}`).join(', ');
