import { createInterface } from 'node:readline/promises';

import { approveSignIn, denySignIn, getSignIn } from '../../admin/resources/device-sign-ins/device-sign-in-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { type Environment, StartError } from '../environment.ts';
import { wordRefusal } from './remote/problems.ts';
import { withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';

type ApproveOptions = { readonly yes?: true; readonly deny?: true };
type SignIn = NonNullable<typeof getSignIn.types>['reply'];

/**
 * Decides about the `weir login` of another machine, after showing who asks: a person with access to the data directory
 * is an operator. The token belongs to no person, as one of `weir admin-tokens create` on this machine.
 */
export async function approveLogin(environment: Environment, code: string, { yes, deny }: ApproveOptions): Promise<void> {
  await withService(environment, {}, async (service) => {
    const params = { user_code: code };
    const found = wordRefusal(
      service.call(getSignIn, { params }),
      'not_found',
      () => new StartError('no machine waits with this code; codes expire after 10 minutes'),
    );
    const { body: signIn } = await found;
    describe(signIn);
    if (deny === true || (yes !== true && !(await ask(signIn)))) return await refuse(service, code);
    const { body: given } = await service.call(approveSignIn, { params, body: {} });
    console.error(`approved: ${inert(given.client_name)} gets an admin token with this name`);
  });
}

async function refuse(service: AdminService, code: string): Promise<void> {
  await service.call(denySignIn, { params: { user_code: code } });
  console.error('refused');
}

/** What a person must compare, because the name is only what the machine says. */
function describe(signIn: SignIn): void {
  console.error(`machine      ${inert(signIn.client_name)}`);
  console.error(`address      ${inert(signIn.address ?? 'unknown')}`);
  console.error(`permissions  ${signIn.permissions.join(', ')}`);
  console.error(`lasts        ${Math.round(signIn.lasts_s / 3600)} h`);
}

/** @throws StartError without a terminal */
async function ask({ state }: SignIn): Promise<boolean> {
  // The refusal of the operation says what happened before.
  if (state !== 'waiting') return true;
  if (!process.stdin.isTTY)
    throw new StartError('there is no terminal to ask on: compare the lines above with the machine, then add --yes or --deny');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question('Is it yours, and does it show this code? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}
