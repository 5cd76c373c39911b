import { AdminProblem } from '../../../admin/problem.ts';
import { getUser } from '../../../admin/resources/users/user-operations.ts';
import type { AdminService } from '../../../admin/service/admin-service.ts';
import { StartError } from '../../environment.ts';

/**
 * Refuses a name that no user has, so that a wrong name is not taken for a user without calls. A token that may not
 * read users is not asked.
 * @throws StartError
 */
export async function requireUser(service: AdminService, name: string): Promise<void> {
  try {
    await service.call(getUser, { params: { name } });
  } catch (error) {
    const code = error instanceof AdminProblem ? error.code : undefined;
    if (code === 'permission_required') return;
    if (code !== 'not_found') throw error;
    throw new StartError(`there is no user "${name}"; weir users list shows them, and weir keys create makes them`, { cause: error });
  }
}
