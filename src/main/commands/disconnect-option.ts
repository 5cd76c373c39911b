import type { Command } from 'commander';

import { disconnectPolicies, isDisconnectPolicy, type KeyDisconnectPolicy } from '../../accounts/disconnect-policy.ts';
import { StartError } from '../environment.ts';

/** Adds the option that decides what happens to a key's calls when their clients disconnect. */
export function addDisconnectOption(command: Command): Command {
  return command.option(
    '--disconnect <policy>',
    'when a client leaves: abort stops the upstream and charges what it has generated, drain reads on and charges what is reported, deliver charges what was delivered; default does as configured',
  );
}

/** Undefined policy: the configured default. @throws StartError if the text is not a policy */
export function parseDisconnect(text: string): { readonly policy: KeyDisconnectPolicy | undefined } {
  if (text === 'default') return { policy: undefined };
  if (isDisconnectPolicy(text)) return { policy: text };
  throw new StartError(`--disconnect: "${text.slice(0, 100)}" is not right; give ${disconnectPolicies.join(', ')} or default`);
}
