import { readDataUri } from '../media/data-uri.ts';
import { readImage } from '../media/read-image.ts';
import { readForeignVideo } from '../media/read-in-thread.ts';
import type { VideoFacts } from '../media/read-video.ts';
import { filePath } from './video-call.ts';
import type { VideoJobs } from './video-jobs.ts';
import { secondsOf } from './video-shape.ts';

/** The description of an input image, and its ratio if its data has one. */
export type ImageInput = { readonly note: string; readonly ratio?: number };

/**
 * Reads an image given as a data URI or an address. Nothing is fetched. Undefined for any other text, and for data that
 * is not an image.
 */
export function lookAtImage(source: string): ImageInput | undefined {
  const data = readDataUri(source);
  if (data === undefined) return hostOf(source) === undefined ? undefined : { note: `image at ${hostOf(source)}, not fetched` };
  if (!data.mediaType.startsWith('image/') || data.bytes.length === 0) return undefined;
  const facts = readImage(data.bytes);
  const size = `${data.bytes.length} bytes`;
  if (facts === undefined) return { note: `image: ${data.mediaType}, ${size}` };
  return { note: `image: ${facts.mediaType} ${facts.width}x${facts.height}, ${size}`, ratio: facts.width / facts.height };
}

export type VideoInput = { readonly note: string; readonly facts?: VideoFacts };

/**
 * Reads a video given as a data URI or an address. The address of a simulated video is known; nothing else is fetched.
 * Undefined for any other text, and for data that is not a video.
 */
export async function lookAtVideo(source: string, jobs: VideoJobs): Promise<VideoInput | undefined> {
  const data = readDataUri(source);
  if (data !== undefined) {
    const facts = await readForeignVideo(data.bytes);
    return facts === undefined ? undefined : { note: noteOf(facts, `${data.bytes.length} bytes`), facts };
  }
  const host = hostOf(source);
  if (host === undefined) return undefined;
  const path = new URL(source).pathname;
  const id = path.startsWith(filePath)
    ? path.slice(filePath.length).replace(/\.mp4$/, '')
    : /^\/v1\/videos\/([\w-]+)\/content$/.exec(path)?.[1];
  const job = jobs.get(id ?? '');
  if (job === undefined) return { note: `video at ${host}, not fetched` };
  const facts = { seconds: secondsOf(job.shape), width: job.shape.width, height: job.shape.height };
  return { note: noteOf(facts, 'simulated'), facts };
}

function noteOf({ seconds, width, height }: VideoFacts, rest: string): string {
  return `video: ${width}x${height} ${seconds.toFixed(2)} s, ${rest}`;
}

/** Host of an http address; undefined for any other text. */
function hostOf(source: string): string | undefined {
  return /^https?:\/\//i.test(source) && URL.canParse(source) ? new URL(source).host : undefined;
}
