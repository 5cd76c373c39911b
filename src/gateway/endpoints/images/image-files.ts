import type { ApiKey } from '../../../accounts/api-key.ts';
import type { GeneratedImage } from '../../../inference/image.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type { MediaStorage } from '../../../tasks/media/media-storage.ts';
import type { ImageStore, StoredImage } from '../../../tasks/media/image-store.ts';
import type { TaskStore } from '../../../tasks/task-store.ts';
import type { SignedLinks } from '../shared/content/signed-links.ts';

/** The storage of linked images. */
export type ImageFiles = {
  readonly storage: Pick<MediaStorage, 'write' | 'open' | 'remove'>;
  readonly store: ImageStore & Pick<TaskStore, 'mediaBytes'>;
  /** Each opens one image until its file is deleted. */
  readonly links: SignedLinks;
};

/** Images with links instead of bytes. */
type LinkedImages = {
  readonly images: readonly GeneratedImage[];
  /** Stores the files. False if that failed, so that the links are useless; never rejects. */
  readonly keep: () => Promise<boolean>;
};

/** Links the images of a reply. Images that have a URL keep it. */
export type LinkImages = (images: readonly GeneratedImage[]) => LinkedImages;

/** Stores and links images for clients that want URLs. */
export type ImageLinks = {
  readonly link: LinkImages;
  /** @throws GatewayError if the files of the caller use all of their quota */
  readonly checkRoom: () => Promise<void>;
};

type Linking = {
  readonly files: ImageFiles;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: (prefix: string) => string;
  readonly callId: string;
  readonly caller: Pick<ApiKey, 'id' | 'userName' | 'limits' | 'userLimits'>;
  /** Scheme and host by which clients reach the gateway. */
  readonly baseUrl: string;
  readonly linkHours: number;
  readonly bytesMax: number;
};

type NewFile = { readonly id: string; readonly mediaType: string; readonly data: string };

const hourMs = 3_600_000;
const dayHours = 24;
/** The longest wait of a reply for the storage. */
const storeMsMax = 30_000;

const picturePath = (id: string): string => `/v1/images/${id}/content`;

/** Creates the function that links the images of a call. */
export function createImageLinks(linking: Linking): LinkImages {
  const { files, clock, newId, caller, baseUrl } = linking;
  const { userName } = caller;
  return (images) => {
    const createdAtMs = clock.nowMs();
    const expiresAtMs = createdAtMs + retentionHours(linking) * hourMs;
    const newFiles: NewFile[] = [];
    const linked = images.map((image): GeneratedImage => {
      const { content } = image;
      if (content.kind !== 'inline') return image;
      const id = newId('picture');
      newFiles.push({ id, mediaType: content.mediaType ?? 'application/octet-stream', data: content.data });
      const query = files.links.sign({ id, userName, expiresAtMs }, createdAtMs);
      return { ...image, content: { kind: 'url', url: `${baseUrl}${picturePath(id)}?${query}` } };
    });
    return { images: linked, keep: () => storeAll(linking, newFiles, { createdAtMs, expiresAtMs }) };
  };
}

/** The shortest of the times that the operator, the key and its user set. */
function retentionHours({ linkHours, caller }: Linking): number {
  const days = [caller.limits, caller.userLimits].flatMap((each) => each?.mediaRetentionDays ?? []);
  return Math.min(linkHours, ...days.map((each) => each * dayHours));
}

type Times = Pick<StoredImage, 'createdAtMs' | 'expiresAtMs'>;

async function storeAll(linking: Linking, newFiles: readonly NewFile[], times: Times): Promise<boolean> {
  if (newFiles.length === 0) return true;
  const { files, logger, callId } = linking;
  const signal = AbortSignal.timeout(storeMsMax);
  const stored = await Promise.allSettled(newFiles.map((picture) => storeFile(linking, picture, times, signal)));
  try {
    await files.store.addPictures(stored.map(valueOf));
    return true;
  } catch (error) {
    logger.error({ callId, err: error }, 'linked images not stored');
    // The sweep deletes a file that remains, because it has no owner.
    await Promise.allSettled(newFiles.map(({ id }) => files.storage.remove(id)));
    return false;
  }
}

function valueOf<Value>(settled: PromiseSettledResult<Value>): Value {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

async function storeFile({ files, caller, bytesMax }: Linking, picture: NewFile, times: Times, signal: AbortSignal): Promise<StoredImage> {
  const { id, mediaType, data } = picture;
  const { bytes, sha256 } = await files.storage.write(id, once(Buffer.from(data, 'base64')), { mediaType, bytesMax, signal });
  return { id, userName: caller.userName, keyId: caller.id, media: { key: id, mediaType, bytes, sha256 }, ...times };
}

// oxlint-disable-next-line typescript/require-await -- storages read by `for await`
async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
