import { join } from 'node:path';

import { openDirectoryStorage } from '../../store/media/directory-storage.ts';
import { createS3Storage } from '../../store/media/s3-storage.ts';
import type { MediaStorage } from '../../tasks/media/media-storage.ts';
import type { MediaStorageConfig } from '../config/media-storage-schema.ts';
import { StartError } from '../environment.ts';

/** Opens what finished videos are kept in. @throws StartError naming the directory when it cannot be used */
export async function openMediaStorage(options: {
  readonly config: MediaStorageConfig | undefined;
  readonly dataDirectory: string;
  /** A folder of its own for each database: what is not in it is nobody's, and is swept away. */
  readonly databaseId: () => Promise<string>;
}): Promise<MediaStorage> {
  const { config, dataDirectory, databaseId } = options;
  if (config?.s3 !== undefined) return createS3Storage({ ...config.s3, prefix: `${config.s3.prefix ?? ''}${await databaseId()}/` });
  const directory = join(dataDirectory, 'media');
  return openDirectoryStorage(directory).catch((cause: unknown) => {
    throw new StartError(`the directory ${directory} cannot be used for media files`, { cause });
  });
}
