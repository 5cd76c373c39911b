import type { ApiKey } from '../../../accounts/api-key.ts';
import { formatTags } from '../../../accounts/call-tags.ts';
import type { CallOpening } from '../../../billing/ledger/call-entry.ts';

const none = {};

/**
 * The tags of a call, as its rows in the books have them. Calls without tags cost nothing here.
 * @param caller with the tags of the request: see gateway/admission/request-tags.ts
 */
export function tagsOf({ tags }: Pick<ApiKey, 'tags'>): Pick<CallOpening, 'tags'> {
  const text = tags === undefined ? '' : formatTags(tags);
  return text === '' ? none : { tags: text };
}
