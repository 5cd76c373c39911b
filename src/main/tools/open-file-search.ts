import { join } from 'node:path';

import { loadProofKey, ProofKeyError } from '../../gateway/proof-vault/load-proof-key.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../../store/store.ts';
import type { EmbedTexts } from '../../tools/file-search/embed-texts.ts';
import { defaultFileLimits, type FileService, openFileService } from '../../tools/file-search/file-service.ts';
import type { Config } from '../config/config-schema.ts';
import { type Environment, proofKeyVariable, StartError } from '../environment.ts';

/** Opens the files under the key that also keeps reasoning proofs; each has its own derived from it. Throws StartError when that cannot be used. */
export function openFileSearch(options: {
  readonly environment: Environment;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: (prefix: string) => string;
  readonly config: () => Config;
  /** Vectors of texts by a model of the name given. */
  readonly embedWith: (model: string) => EmbedTexts;
}): FileService {
  const { environment, config, embedWith } = options;
  const text = environment.variable(proofKeyVariable);
  const given = text === undefined ? undefined : { name: proofKeyVariable, text };
  try {
    const key = loadProofKey({ path: join(environment.dataDirectory, 'proof-vault.key'), given });
    const embed = (): EmbedTexts | undefined => {
      const model = config().tools?.fileSearch?.embeddings?.model;
      return model === undefined ? undefined : embedWith(model);
    };
    return openFileService({ ...options, key, limits: () => ({ ...defaultFileLimits, ...config().files }), embed });
  } catch (error) {
    if (error instanceof ProofKeyError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}
