import { embedWithModel } from '../../../gateway/endpoints/embeddings/embed-own-texts.ts';
import type { Gateway } from '../../../gateway/endpoints/gateway.ts';
import { rankWithModel } from '../../../gateway/endpoints/rerank/rank-own-texts.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type { Store } from '../../../store/store.ts';
import type { EmbedTexts } from '../../../tools/file-search/embed-texts.ts';
import { defaultFileLimits, type FileService, openFileService } from '../../../tools/file-search/file-service.ts';
import type { RankTexts } from '../../../tools/file-search/rank-texts.ts';
import type { Config } from '../../config/config-schema.ts';
import type { Environment } from '../../environment.ts';
import { loadStoreKey } from '../load-store-key.ts';

/**
 * Opens user files. Their key is derived from the same secret key as that of reasoning proofs. Throws StartError
 * without a usable key.
 */
export function openFileSearch(options: {
  readonly environment: Environment;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: (prefix: string) => string;
  readonly config: () => Config;
  /** Called when a model is needed; the gateway is complete then. */
  readonly gateway: () => Gateway;
}): FileService {
  const { environment, config, gateway } = options;
  const embed = (): EmbedTexts | undefined => {
    const model = config().tools?.fileSearch?.embeddings?.model;
    return model === undefined ? undefined : (...asked) => embedWithModel(gateway(), model)(...asked);
  };
  const rank = (): RankTexts | undefined => {
    const model = config().tools?.fileSearch?.rerank?.model;
    return model === undefined ? undefined : (...asked) => rankWithModel(gateway(), model)(...asked);
  };
  return openFileService({
    ...options,
    key: loadStoreKey(environment),
    limits: () => ({ ...defaultFileLimits, ...config().files }),
    embed,
    rank,
  });
}
