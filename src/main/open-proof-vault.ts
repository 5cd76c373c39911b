import { join } from 'node:path';

import { loadProofKey, ProofKeyError } from '../gateway/proof-vault/load-proof-key.ts';
import { createProofVault, type ProofVault } from '../gateway/proof-vault/proof-vault.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Store } from '../store/store.ts';
import { type Environment, proofKeyVariable, StartError } from './environment.ts';

/** Opens the vault of reasoning proofs under the operator's key, or under one that the data directory keeps. Throws StartError when neither can be used. */
export function openProofVault(options: {
  readonly environment: Environment;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}): ProofVault {
  const { environment, store, clock, logger } = options;
  const text = environment.variable(proofKeyVariable);
  const given = text === undefined ? undefined : { name: proofKeyVariable, text };
  try {
    const key = loadProofKey({ path: join(environment.dataDirectory, 'proof-vault.key'), given });
    return createProofVault({ store, key, clock, logger });
  } catch (error) {
    if (error instanceof ProofKeyError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}
