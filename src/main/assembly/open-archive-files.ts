import { join } from 'node:path';

import type { ArchiveFiles } from '../../billing/archive/call-archive.ts';
import type { MediaStorage } from '../../tasks/media/media-storage.ts';
import type { BooksConfig } from '../config/books-schema.ts';
import { type Environment, StartError } from '../environment.ts';
import { openOnce } from '../../platform/open-once.ts';

type Parts = {
  readonly config: BooksConfig['retention'];
  readonly environment: Pick<Environment, 'dataDirectory'>;
  readonly store: { readonly databaseId: () => Promise<string> };
};

const ending = '.parquet';

/** Opens the folder or bucket of the archives at its first use, once. A failure is retried at the next use. */
export function openArchiveFilesLater(parts: Parts): () => Promise<ArchiveFiles> {
  return openOnce(() => openFiles(parts)).get;
}

/** @throws StartError with the folder if it cannot be used */
async function openFiles({ config, environment, store }: Parts): Promise<ArchiveFiles> {
  if (config?.s3 !== undefined) {
    const { createS3Storage } = await import('../../store/media/s3-storage.ts');
    // Each database has its own folder, as for media.
    const prefix = `${config.s3.prefix ?? ''}${await store.databaseId()}/`;
    const { endpoint, bucket } = config.s3;
    return filesOf(
      createS3Storage({ ...config.s3, prefix }, { ending }),
      (id) => `${endpoint.replace(/\/$/, '')}/${bucket}/${prefix}${id}${ending}`,
    );
  }
  const { openDirectoryStorage } = await import('../../store/media/directory-storage.ts');
  const folder = config?.folder ?? join(environment.dataDirectory, 'archive');
  const storage = await openDirectoryStorage(folder, { ending }).catch((cause: unknown) => {
    throw new StartError(`the folder ${folder} cannot be used for archives`, { cause });
  });
  return filesOf(storage, (id) => join(folder, `${id}${ending}`));
}

function filesOf(storage: MediaStorage, placeOf: (id: string) => string): ArchiveFiles {
  return {
    placeOf,
    write: (id, pieces, signal) =>
      storage.write(id, pieces, { mediaType: 'application/vnd.apache.parquet', bytesMax: Number.MAX_SAFE_INTEGER, signal }),
    open: (id, range, signal) => storage.open(id, range, signal),
  };
}
