import type { Gateway } from '../../gateway/endpoints/gateway.ts';
import type { Config } from '../config/config-schema.ts';
import { openWatchedStorage } from './open-media-storage.ts';
import { openPictures } from './open-pictures.ts';
import { openVideos } from './open-videos.ts';

type Parts = Omit<Parameters<typeof openVideos>[0], 'storage'> & { readonly config: () => Pick<Config, 'mediaStorage'> };

/** Opens the media storage, with videos and images. Closed by `opened`. */
export async function openMedia(parts: Parts, opened: AsyncDisposableStack): Promise<Pick<Gateway, 'pictures' | 'videos'>> {
  const storage = await openWatchedStorage(parts, opened);
  return { pictures: openPictures({ ...parts, storage }), videos: await openVideos({ ...parts, storage }, opened) };
}
