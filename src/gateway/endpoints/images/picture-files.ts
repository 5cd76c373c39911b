import type { ApiKey } from '../../../accounts/api-key.ts';
import type { GeneratedImage } from '../../../inference/image.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/log.ts';
import type { MediaStorage } from '../../../tasks/media/media-storage.ts';
import type { PictureStore, StoredPicture } from '../../../tasks/media/picture-store.ts';
import type { TaskStore } from '../../../tasks/task-store.ts';
import type { SignedLinks } from '../shared/content/signed-links.ts';

/** Where pictures are kept whose clients want addresses. */
export type PictureFiles = {
  readonly storage: Pick<MediaStorage, 'write' | 'open' | 'remove'>;
  readonly store: PictureStore & Pick<TaskStore, 'mediaBytes'>;
  /** Each opens one picture, as long as it is kept. */
  readonly links: SignedLinks;
};

/** Pictures with addresses in place of bytes. */
type LinkedPictures = {
  readonly images: readonly GeneratedImage[];
  /** Keeps their files. False where that failed, so that the addresses lead nowhere; never rejects. */
  readonly keep: () => Promise<boolean>;
};

/** Gives the pictures of a reply addresses; those that have one keep it. */
export type LinkPictures = (images: readonly GeneratedImage[]) => LinkedPictures;

/** What becomes of pictures that are wanted by address. */
export type PictureLinks = {
  readonly link: LinkPictures;
  /** @throws GatewayError where the caller's files fill the place that they may have */
  readonly checkRoom: () => Promise<void>;
};

type Linking = {
  readonly files: PictureFiles;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: (prefix: string) => string;
  readonly callId: string;
  readonly caller: Pick<ApiKey, 'id' | 'userName' | 'limits' | 'userLimits'>;
  /** Scheme and host under which clients reach the gateway. */
  readonly baseUrl: string;
  readonly linkHours: number;
  readonly bytesMax: number;
};

type Unkept = { readonly id: string; readonly mediaType: string; readonly data: string };

const hourMs = 3_600_000;
const dayHours = 24;
/** How long the end of a reply waits for the storage. */
const keepMsMax = 30_000;

/** The address of a picture. */
const picturePath = (id: string): string => `/v1/images/${id}/content`;

/** Makes what gives pictures of one call their addresses. */
export function createPictureLinks(linking: Linking): LinkPictures {
  const { files, clock, newId, caller, baseUrl } = linking;
  const { userName } = caller;
  return (images) => {
    const createdAtMs = clock.nowMs();
    const expiresAtMs = createdAtMs + keptHours(linking) * hourMs;
    const unkept: Unkept[] = [];
    const linked = images.map((image): GeneratedImage => {
      const { content } = image;
      if (content.kind !== 'inline') return image;
      const id = newId('picture');
      unkept.push({ id, mediaType: content.mediaType ?? 'application/octet-stream', data: content.data });
      const query = files.links.sign({ id, userName, expiresAtMs }, createdAtMs);
      return { ...image, content: { kind: 'url', url: `${baseUrl}${picturePath(id)}?${query}` } };
    });
    return { images: linked, keep: () => keepAll(linking, unkept, { createdAtMs, expiresAtMs }) };
  };
}

/** The shortest of what the operator, the key and its user say. */
function keptHours({ linkHours, caller }: Linking): number {
  const days = [caller.limits, caller.userLimits].flatMap((each) => each?.mediaRetentionDays ?? []);
  return Math.min(linkHours, ...days.map((each) => each * dayHours));
}

type Times = Pick<StoredPicture, 'createdAtMs' | 'expiresAtMs'>;

async function keepAll(linking: Linking, unkept: readonly Unkept[], times: Times): Promise<boolean> {
  if (unkept.length === 0) return true;
  const { files, logger, callId } = linking;
  const signal = AbortSignal.timeout(keepMsMax);
  const kept = await Promise.allSettled(unkept.map((picture) => keepFile(linking, picture, times, signal)));
  try {
    await files.store.addPictures(kept.map(valueOf));
    return true;
  } catch (error) {
    logger.error({ callId, err: error }, 'pictures could not be kept: their client gets the bytes in place of addresses');
    // What stays is nobody's, and falls to the sweep.
    await Promise.allSettled(unkept.map(({ id }) => files.storage.remove(id)));
    return false;
  }
}

function valueOf<Value>(settled: PromiseSettledResult<Value>): Value {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

async function keepFile({ files, caller, bytesMax }: Linking, picture: Unkept, times: Times, signal: AbortSignal): Promise<StoredPicture> {
  const { id, mediaType, data } = picture;
  const { bytes, sha256 } = await files.storage.write(id, once(Buffer.from(data, 'base64')), { mediaType, bytesMax, signal });
  return { id, userName: caller.userName, keyId: caller.id, media: { key: id, mediaType, bytes, sha256 }, ...times };
}

// oxlint-disable-next-line typescript/require-await -- storages read by `for await`
async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
