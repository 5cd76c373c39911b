import { createProofVault, type ProofVault } from '../../gateway/endpoints/chat/proofs/proof-vault.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

/** Opens the vault of reasoning proofs. Closed by `opened`. Throws StartError without a usable key. */
export function openProofVault(
  options: { readonly environment: Environment; readonly store: Store; readonly clock: Clock; readonly logger: Logger },
  opened: AsyncDisposableStack,
): ProofVault {
  const { environment, store, clock, logger } = options;
  const vault = createProofVault({ store, key: loadStoreKey(environment), clock, logger });
  opened.defer(() => vault.close());
  return vault;
}
