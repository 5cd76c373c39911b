import { randomBytes } from 'node:crypto';

import { createPlaygroundKeys, type PlaygroundKeys } from '../../accounts/people/playground-keys.ts';
import { createPlaygroundRelay, type PlaygroundRelay } from '../../admin/resources/playground/playground-relay.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { createSealer, deriveKey, type Sealer } from '../../platform/seal/sealer.ts';
import { waitFor } from '../../platform/wait-for.ts';
import type { Store } from '../../store/store.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

const sweepEveryMs = 60_000;
const storeMsMax = 5000;

/** The keys of the playground, whose secrets are sealed with a key of their own. */
export function openPlaygroundKeys(parts: {
  readonly environment: Environment;
  readonly store: Store;
  readonly clock: Clock;
}): PlaygroundKeys {
  let sealer: Sealer | undefined;
  const open = (): Sealer => (sealer ??= createSealer(deriveKey(loadStoreKey(parts.environment), 'playground keys')));
  return createPlaygroundKeys({ ...parts, random: randomBytes, sealer: open });
}

/** The way to the gateway. Its table of interfaces is loaded for the first call, because most consoles relay none. */
export function openPlaygroundRelay(gatewayUrl: string | undefined): PlaygroundRelay {
  const address = gatewayUrl?.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  return createPlaygroundRelay({
    address: () => address,
    serves: async (method, path) => {
      const { findRelayedRoute } = await import('./find-relayed-route.ts');
      return findRelayedRoute(method, path);
    },
  });
}

/** Ends keys whose time is over, once a minute, until the returned function is called. */
export function sweepPlayground(keys: Pick<PlaygroundKeys, 'sweep'>, logger: Pick<Logger, 'warn'>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = waitFor(keys.sweep(), storeMsMax).then(
      () => {},
      (error: unknown) => logger.warn({ err: error }, 'ending playground keys failed'),
    );
  }, sweepEveryMs).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
