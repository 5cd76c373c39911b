import type { Command } from 'commander';

import { AccountsError } from '../../accounts/accounts-error.ts';
import { type CallTags, parseTags } from '../../accounts/call-tags.ts';

/** Adds the option for the tags of all calls of a key. */
export function addTagsOption(command: Command): Command {
  return command.option('--tags <tags>', 'tags of all its calls, such as project=search,env=prod; none for no tags');
}

/** The tags that the option names. @throws AccountsError `invalid_tags` */
export function readTagsOption(text: string): CallTags {
  if (text === 'none') return {};
  const read = parseTags(text);
  if ('tags' in read) return read.tags;
  throw new AccountsError('invalid_tags', `tags: ${read.problem}.`);
}
