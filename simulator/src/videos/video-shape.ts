import { framesPerSecond } from '../media/render-video.ts';

/** The dimensions of a video, in its file and in its interface. */
export type VideoShape = { readonly width: number; readonly height: number; readonly frames: number };

/** Shorter edge in pixels of each resolution. */
export const resolutions: Readonly<Record<string, number>> = { '480p': 480, '720p': 720, '1080p': 1080 };
export const aspectRatios: readonly string[] = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'];

/** The maximum ratio of the longer to the shorter edge, for any input image. */
const ratioMax = 3;
const remixSecondsMax = 8.7;
const remixEdgeMax = 720;
const unknownInput = { seconds: 5, width: 854, height: 480 };

/** Frames of a length in seconds: at most the requested length, and less than a frame below it. */
export function framesOf(seconds: number): number {
  return Math.max(1, Math.floor(seconds * framesPerSecond + 0.001));
}

export function secondsOf(shape: VideoShape): number {
  return shape.frames / framesPerSecond;
}

/** A new video: the shorter edge is the resolution's, the longer follows from the ratio, rounded to even pixels. */
export function shapeOf(seconds: number, edge: number, ratio: number): VideoShape {
  const bounded = Math.min(ratioMax, Math.max(1 / ratioMax, ratio));
  const long = toEven(edge * Math.max(bounded, 1 / bounded));
  const frames = framesOf(seconds);
  return bounded >= 1 ? { width: long, height: edge, frames } : { width: edge, height: long, frames };
}

/** Width by height of `16:9`. */
export function ratioOf(text: string): number {
  const [width = 16, height = 9] = text.split(':').map(Number);
  return width / height;
}

/**
 * A remix: as long as its input up to 8.7 s, of its ratio, at most 720p. Unknown properties of the input count as 5 s
 * of 480p.
 */
export function remixShape(
  input: { readonly seconds: number; readonly width: number; readonly height: number } = unknownInput,
): VideoShape {
  const shrink = Math.min(1, remixEdgeMax / Math.min(input.width, input.height));
  const frames = framesOf(Math.min(input.seconds, remixSecondsMax));
  return { width: bounded(input.width * shrink), height: bounded(input.height * shrink), frames };
}

/** The name of a shape's shorter edge. */
export function resolutionOf(shape: VideoShape): string {
  const edge = Math.min(shape.width, shape.height);
  if (edge <= 480) return '480p';
  return edge <= 720 ? '720p' : '1080p';
}

function bounded(edge: number): number {
  return Math.min(2560, Math.max(64, toEven(edge)));
}

function toEven(edge: number): number {
  return 2 * Math.round(edge / 2);
}
