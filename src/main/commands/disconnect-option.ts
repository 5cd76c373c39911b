import type { Command } from 'commander';

import { disconnectPolicies, isDisconnectPolicy, type KeyDisconnectPolicy } from '../../accounts/disconnect-policy.ts';
import { StartError } from '../environment.ts';

/** Adds the option that decides what happens to a key's calls when their clients disconnect. */
export function addDisconnectOption(command: Command): Command {
  return command.option(
    '--disconnect <policy>',
    'if a client disconnects: abort stops the upstream and charges the generated output, drain reads the reply to its end and charges the reported usage, deliver charges the delivered output; default follows the configuration',
  );
}

/** Undefined policy: the configured default. @throws StartError if the text is not a policy */
export function parseDisconnect(text: string): { readonly policy: KeyDisconnectPolicy | undefined } {
  if (text === 'default') return { policy: undefined };
  if (isDisconnectPolicy(text)) return { policy: text };
  throw new StartError(`--disconnect must be one of ${disconnectPolicies.join(', ')} or default; got "${text.slice(0, 100)}"`);
}
