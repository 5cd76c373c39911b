import type { ApiKey } from '../../accounts/api-key.ts';
import type { AccountLevel } from '../../accounts/team.ts';

const names = { key: 'this API key', user: 'this user', team: 'this team', organization: 'this organization' } as const;

/** The owner of a limit, in words for the client: `this team (research)`. */
export function nameLevel(level: AccountLevel, team: ApiKey['team']): string {
  return level === 'team' && team !== undefined ? `${names.team} (${team.name})` : names[level];
}
