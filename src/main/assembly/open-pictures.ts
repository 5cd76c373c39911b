import { createSignedLinks } from '../../gateway/endpoints/shared/content/signed-links.ts';
import type { ImageFiles } from '../../gateway/endpoints/images/image-files.ts';
import { deriveKey } from '../../platform/seal/sealer.ts';
import type { MediaStorage } from '../../tasks/media/media-storage.ts';
import type { Store } from '../../store/store.ts';
import type { Environment } from '../environment.ts';
import { loadStoreKey } from './load-store-key.ts';

/**
 * Opens the storage of images with links. The sweep of videos deletes expired files. Throws StartError without a usable
 * key.
 */
export function openPictures(parts: {
  readonly environment: Environment;
  readonly store: Store;
  readonly storage: MediaStorage;
}): ImageFiles {
  const { environment, store, storage } = parts;
  // A link expires with its file.
  return { storage, store, links: createSignedLinks(deriveKey(loadStoreKey(environment), 'links of pictures'), Number.POSITIVE_INFINITY) };
}
