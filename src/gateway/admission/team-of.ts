import type { ApiKey } from '../../accounts/api-key.ts';
import type { CallOpening } from '../../billing/ledger/call-entry.ts';

const none = {};

/** The team of a caller, as rows of its calls record it. */
export function teamOf({ team }: Pick<ApiKey, 'team'>): Pick<CallOpening, 'team'> {
  return team === undefined ? none : { team: { id: team.id, name: team.name } };
}
