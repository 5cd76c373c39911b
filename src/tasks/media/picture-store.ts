import type { StoredMedia } from '../video-task.ts';

/** A picture in the media storage, which its link opens until its time has passed. The key of its file is its id. */
export type StoredPicture = {
  readonly id: string;
  readonly userName: string;
  /** The key that asked for it. */
  readonly keyId: string;
  readonly media: StoredMedia;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
};

/** What is known of pictures whose files are kept. `TaskStore.expireMedia` forgets them when their time has passed. */
export type PictureStore = {
  /** All of them or none. */
  readonly addPictures: (pictures: readonly StoredPicture[]) => Promise<void>;
  readonly findPicture: (id: string) => Promise<StoredPicture | undefined>;
};
