import { join } from 'node:path';

import { openDirectoryStorage } from '../../store/media/directory-storage.ts';
import type { Logger } from '../../platform/log.ts';
import type { MediaStorage } from '../../tasks/media/media-storage.ts';
import type { MediaStorageConfig } from '../config/media-storage-schema.ts';
import { type Environment, StartError } from '../environment.ts';
import { checkMediaStorage } from './check-media-storage.ts';
import { openOnce } from '../../platform/open-once.ts';

/**
 * Opens the media storage, and checks an object store in the background.
 * @throws StartError with the directory if it cannot be used
 */
export async function openWatchedStorage(
  parts: {
    readonly config: () => { readonly mediaStorage?: MediaStorageConfig };
    readonly environment: Pick<Environment, 'dataDirectory'>;
    readonly store: { readonly databaseId: () => Promise<string> };
    readonly logger: Logger;
  },
  opened: AsyncDisposableStack,
): Promise<MediaStorage> {
  const config = parts.config().mediaStorage;
  const { dataDirectory } = parts.environment;
  const storage = await openMediaStorage({ config, dataDirectory, databaseId: parts.store.databaseId });
  if (config?.s3 !== undefined) lookAtObjectStore(storage, parts.logger, opened);
  return storage;
}

/**
 * Logs at the start, and not at the first video, that an object store does not work. Videos wait for it; other work
 * does not.
 */
function lookAtObjectStore(storage: MediaStorage, logger: Logger, opened: AsyncDisposableStack): void {
  const closing = new AbortController();
  opened.defer(() => closing.abort());
  checkMediaStorage(storage, closing.signal).then(
    (problem) => {
      if (problem === undefined) return;
      logger.error({ problem }, 'media storage check failed');
    },
    () => undefined,
  );
}

/** Opens the storage of finished videos. @throws StartError with the directory if it cannot be used */
async function openMediaStorage(options: {
  readonly config: MediaStorageConfig | undefined;
  readonly dataDirectory: string;
  /** Each database has its own folder. Files in it that the database does not know are deleted. */
  readonly databaseId: () => Promise<string>;
}): Promise<MediaStorage> {
  const { config, dataDirectory, databaseId } = options;
  if (config?.s3 !== undefined) {
    // Its client is loaded only if it is used.
    const { createS3Storage } = await import('../../store/media/s3-storage.ts');
    return createS3Storage({ ...config.s3, prefix: `${config.s3.prefix ?? ''}${await databaseId()}/` });
  }
  const directory = join(dataDirectory, 'media');
  return openDirectoryStorage(directory).catch((cause: unknown) => {
    throw new StartError(`the directory ${directory} cannot be used for media files`, { cause });
  });
}

/** Opens the storage of finished videos at its first use, once. A failure is retried at the next use. */
export function openMediaLater(parts: {
  readonly config: MediaStorageConfig | undefined;
  readonly environment: Pick<Environment, 'dataDirectory'>;
  readonly store: { readonly databaseId: () => Promise<string> };
}): () => Promise<MediaStorage> {
  const { config, environment, store } = parts;
  return openOnce(() => openMediaStorage({ config, dataDirectory: environment.dataDirectory, databaseId: store.databaseId })).get;
}
