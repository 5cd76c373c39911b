import { join } from 'node:path';

import { loadProofKey, ProofKeyError } from '../../gateway/endpoints/chat/proofs/load-proof-key.ts';
import { type Environment, proofKeyVariable, StartError } from '../environment.ts';

/**
 * The key for sealing bodies before they are stored: the operator's key, or the one in the data directory. Each use
 * derives its own key from it. Throws StartError if neither can be used.
 */
export function loadStoreKey(environment: Environment): Buffer {
  const text = environment.variable(proofKeyVariable);
  const given = text === undefined ? undefined : { name: proofKeyVariable, text };
  try {
    return loadProofKey({ path: join(environment.dataDirectory, 'proof-vault.key'), given });
  } catch (error) {
    if (error instanceof ProofKeyError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}
