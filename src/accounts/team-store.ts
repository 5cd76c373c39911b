import type { Change } from '../audit/change-author.ts';
import type { AccessLimitsChange } from './access-limits.ts';
import type { ContentMode } from './content-mode.ts';
import type { Organization, Team } from './team.ts';

/** A change of a team. Absent members stay as they are. */
export type TeamEdit = {
  /** The limits that all users of the team share. */
  readonly limits?: AccessLimitsChange;
  /** How much of the content of the team's calls is recorded; null for nothing. */
  readonly content?: ContentMode | null;
};

/**
 * The store that teams and the organization need. Every method is one transaction, which also writes the row of the
 * audit log unless nothing changed, and increments the version of the keys. Names are validated before the call.
 */
export type TeamStore = {
  /** Returns false and changes nothing if a team has the name or the id. */
  readonly insertTeam: (team: Team, change: Change) => Promise<boolean>;
  /** Teams that are not deleted, oldest first. */
  readonly listTeams: () => Promise<readonly Team[]>;
  /** Changes a team; one row of the audit log has all of it. Returns false if there is no team of that name. */
  readonly changeTeam: (teamName: string, edit: TeamEdit, change: Change) => Promise<boolean>;
  /**
   * Removes a team without users; booked calls keep its name. `missing`: there is no such team. `in-use`: a user is in
   * it, and nothing changed. `has-balance`: its balance is not 0, and nothing changed.
   */
  readonly deleteTeam: (teamName: string, change: Change) => Promise<'deleted' | 'missing' | 'in-use' | 'has-balance'>;
  /**
   * Puts a user into a team, or with undefined into none. Calls that were made before stay with the team of their
   * time. Names the one that does not exist; then nothing changed.
   */
  readonly setUserTeam: (userName: string, teamName: string | undefined, change: Change) => Promise<'changed' | 'no-user' | 'no-team'>;
  readonly readOrganization: () => Promise<Organization>;
  readonly changeOrganizationLimits: (limits: AccessLimitsChange, change: Change) => Promise<void>;
};
