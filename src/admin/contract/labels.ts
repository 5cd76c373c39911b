import { Type } from 'typebox';

import { findTagProblem } from '../../accounts/call-tags.ts';
import type { CallFilter } from '../../billing/calls/call-facts-store.ts';
import { AdminProblem } from '../problem.ts';

const choices = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: 50, description }));

/** The members of a question that select calls by team and tags. */
export const labelMembers = {
  team: choices("The user's team when the call was made; an empty text for calls without one. Several: any of them."),
  tag: choices(
    'A tag as name=value, such as project=search; name= for calls without the tag. Several values of one name: any of them; several names: all.',
  ),
};

/**
 * The filter of labelMembers, without what they do not set.
 * @throws AdminProblem `invalid_request` for a text that cannot be a tag
 */
export function readLabels({
  team,
  tag,
}: {
  readonly team?: readonly string[] | undefined;
  readonly tag?: readonly string[] | undefined;
}): Pick<CallFilter, 'teams' | 'tags'> {
  const tags: Record<string, string[]> = {};
  for (const text of tag ?? []) {
    const equals = text.indexOf('=');
    const [name, value] = [text.slice(0, Math.max(0, equals)), text.slice(equals + 1)];
    const problem = equals < 0 ? `"${text.slice(0, 100)}" is not a tag` : findTagProblem(name, value === '' ? 'none' : value);
    if (problem !== undefined && value !== '(other)') {
      const detail = `tag must be name=value: ${problem}`;
      throw new AdminProblem('invalid_request', detail, { errors: [{ parameter: 'tag', code: 'tag', detail }] });
    }
    (tags[name] ??= []).push(value);
  }
  return {
    ...(team === undefined ? {} : { teams: team.map((name) => name.normalize('NFC')) }),
    ...(tag === undefined ? {} : { tags }),
  };
}
