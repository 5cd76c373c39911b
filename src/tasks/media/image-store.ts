import type { StoredMedia } from '../video-task.ts';

/** An image in the media storage. Its link works until it expires. The key of its file is its id. */
export type StoredImage = {
  readonly id: string;
  readonly userName: string;
  /** The API key of the request. */
  readonly keyId: string;
  readonly media: StoredMedia;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
};

/** Rows of the stored images. `TaskStore.expireMedia` deletes expired ones. */
export type ImageStore = {
  /** Adds all of them or none. */
  readonly addPictures: (pictures: readonly StoredImage[]) => Promise<void>;
  readonly findPicture: (id: string) => Promise<StoredImage | undefined>;
};
