import { systemClock } from '../../../platform/clock.ts';
import { type Environment, StartError } from '../../environment.ts';
import { nameAddress, readAddress } from './read-address.ts';
import { openStoredTokens, type StoredToken } from './stored-tokens.ts';

/** A console, and the token to use there. */
export type ChosenConsole = { readonly address: URL; readonly token: string; readonly isStored: boolean };

const adminTokenVariable = 'WEIR_ADMIN_TOKEN';

/**
 * The console of `--remote`. `WEIR_ADMIN_TOKEN` is used before a stored token. Without an address it is the one that
 * `weir login` has stored, if it is the only one; then the variable must be unset, because its token may be for another
 * console.
 * @param remote the address; true if the option has none
 * @throws StartError
 */
export function chooseConsole(environment: Pick<Environment, 'variable'>, remote: string | true): ChosenConsole {
  const own = environment.variable(adminTokenVariable);
  if (remote === true && own !== undefined)
    throw new StartError(`--remote needs the address of the console for which ${adminTokenVariable} is: --remote https://console.example`);
  const stored = openStoredTokens(environment);
  const address = remote === true ? onlyAddress(stored.addresses()) : readAddress(remote);
  if (own !== undefined) return { address, token: own, isStored: false };
  const found = stored.read(address);
  if (found === undefined)
    throw new StartError(
      `there is no token for ${nameAddress(address)}: sign in with weir login ${nameAddress(address)}, or set ${adminTokenVariable}`,
    );
  assertLasts(found);
  return { address, token: found.token, isStored: true };
}

/** The address that is stored, if there is exactly one. @throws StartError */
export function onlyAddress(addresses: readonly string[]): URL {
  const [only] = addresses;
  if (only === undefined) throw new StartError('no console is stored: name its address, or sign in with weir login <address>');
  if (addresses.length > 1) throw new StartError(`several consoles are stored, so name one of them: ${addresses.join(', ')}`);
  return readAddress(only);
}

function assertLasts({ address, expires_at }: StoredToken): void {
  if (Date.parse(expires_at) > systemClock.nowMs()) return;
  throw new StartError(`the sign-in at ${address} ended at ${expires_at}: sign in again with weir login ${address}`);
}
