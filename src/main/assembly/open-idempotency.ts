import { randomUUID } from 'node:crypto';

import { createIdempotency, type Idempotency } from '../../billing/idempotency/idempotency.ts';
import { defaultIdempotencySettings } from '../../billing/idempotency/idempotency-settings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../config/config-schema.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

type Options = {
  readonly environment: Environment;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: () => Config;
  /** The id of the data directory and journal slot, which no other process uses meanwhile. */
  readonly nodeId: string;
};

/** Opens the idempotency keys. Closed by `opened`. Throws StartError without a usable key. */
export function openIdempotency({ environment, config, nodeId, ...parts }: Options, opened: AsyncDisposableStack): Idempotency {
  const idempotency = createIdempotency({
    ...parts,
    key: loadStoreKey(environment),
    settings: () => ({ ...defaultIdempotencySettings, ...config().idempotency }),
    owner: `${nodeId} ${randomUUID()}`,
    deadPrefix: `${nodeId} `,
  });
  opened.defer(() => idempotency.close());
  return idempotency;
}
