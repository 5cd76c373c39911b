import { randomBytes } from 'node:crypto';

import type { Conversations } from '../../conversations/response-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { CallbackStore } from '../../tasks/callbacks/callback-store.ts';
import { type CallbackVault, createCallbackVault } from '../../tasks/callbacks/callback-vault.ts';
import { type Callbacks, createCallbacks } from '../../tasks/callbacks/create-callbacks.ts';
import { createCallbackSender } from '../../tasks/callbacks/create-callback-sender.ts';
import { createResponseWatch } from '../../tasks/callbacks/watch-response.ts';
import type { Config } from '../config/config-schema.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

/**
 * Opens callbacks and begins to send them. Closed by `opened`. `vault` seals the addresses of events at the end of
 * tasks. Throws StartError without a usable key.
 */
export function openCallbacks(
  options: {
    readonly environment: Environment;
    readonly store: CallbackStore;
    readonly conversations: Pick<Conversations, 'findResponse'>;
    readonly config: () => Config;
    readonly clock: Clock;
    readonly logger: Logger;
  },
  opened: AsyncDisposableStack,
): { readonly callbacks: Callbacks; readonly vault: CallbackVault } {
  const { environment, store, conversations, config, clock, logger } = options;
  const vault = createCallbackVault({ store, key: loadStoreKey(environment), randomBytes, clock });
  const allowPrivate = (): boolean => config().callbacks?.privateAddresses ?? false;
  const callbacks = createCallbacks({ store, vault, clock, allowPrivate });
  const findStatus = async (userName: string, id: string): Promise<string | undefined> =>
    (await conversations.findResponse(userName, id))?.status;
  const watch = createResponseWatch({ callbacks, findStatus, clock });
  const sender = createCallbackSender({ store, vault, clock, logger, allowPrivate, watch, random: Math.random });
  sender.start();
  opened.defer(() => sender.close());
  return { callbacks, vault };
}
