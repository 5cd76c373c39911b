import type { Permission } from '../accounts/people/permissions.ts';
import type { Principal } from '../accounts/people/principal.ts';
import { AdminProblem } from './problem.ts';

/** The caller that lacks the permission, and how it gets it. */
function holderOf({ tokenId, holder }: Principal, permission: Permission): string {
  if (tokenId !== undefined)
    return `which this token does not have: name it when you make one (weir admin-tokens create or weir login, --permission ${permission})`;
  if (holder !== undefined) return 'which a sign-in with this key or token does not have: a person with the permission has to do this';
  return 'which your role does not have: an operator can give you another role';
}

/**
 * The refusal of somebody without a permission.
 * @param what the beginning of the sentence: `Limits need`
 */
export function permissionProblem(principal: Principal, permission: Permission, what = 'This needs'): AdminProblem {
  const detail = `${what} the permission ${permission}, ${holderOf(principal, permission)}.`;
  return new AdminProblem('permission_required', detail, { members: { permission } });
}
