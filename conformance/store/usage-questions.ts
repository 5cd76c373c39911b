import { readTags } from '../../src/accounts/call-tags.ts';
import type { CallEntry } from '../../src/billing/ledger/call-entry.ts';
import type { UsageQuestion } from '../../src/billing/usage/usage-question.ts';
import { tagOf, type UsageDimension } from '../../src/billing/usage/usage-store.ts';

export const daySeconds = 86_400;

/** A question without its span: the totals of everything, as one row. */
export const plainQuestion: Omit<UsageQuestion, 'startSeconds' | 'endSeconds'> = {
  timeZone: 'UTC',
  granularity: 'auto',
  extra: [],
  groupBy: [],
  filter: {},
  scope: 'all',
  limit: 12,
  rankBy: 'amount',
};

/** The values of a call by which a dimension groups it; a key is named with its user. */
export const valuesOf = (entry: CallEntry, dimension: UsageDimension): readonly string[] => {
  const tag = tagOf(dimension);
  if (tag !== undefined) return [readTags(entry.tags ?? '')[tag] ?? ''];
  if (dimension === 'team') return [entry.team?.name ?? ''];
  const { userName, keyName, requestedModel: model, upstream, upstreamModel, dialect, end } = entry;
  return {
    user: [userName],
    key: [userName, keyName],
    model: [model],
    upstream: [upstream],
    upstreamModel: [upstreamModel],
    interface: [dialect],
    end: [end],
  }[dimension as 'user'];
};
