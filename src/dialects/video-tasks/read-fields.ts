import type { VideoInput } from '../../inference/video.ts';
import type { Claim, VideoField } from './field-names.ts';
import { documentedRatios, documentedResolutions, frameSizeOf, knownRatios, knownResolutions, sizes } from './frame-sizes.ts';
import { exactCount } from './json-text.ts';
import { readMediaList, readMedium } from './read-media.ts';
import { showValue, wrongValue } from './request-problem.ts';

/** All claims of a request, at its top and in its metadata, by their meaning. */
export type VideoClaims = ReadonlyMap<VideoField, readonly Claim[]>;

/** The limits of one form in one mode. */
export type FieldBounds = {
  readonly secondsMin: number;
  readonly secondsMax: number;
  /** Whether a length may be a text of digits, as OpenAI's clients send it. */
  readonly acceptsTextSeconds: boolean;
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
};

export const documentedBounds: FieldBounds = {
  secondsMin: 1,
  secondsMax: 15,
  acceptsTextSeconds: false,
  resolutions: documentedResolutions,
  ratios: documentedRatios,
};
export const compatibleBounds: FieldBounds = {
  ...documentedBounds,
  acceptsTextSeconds: true,
  resolutions: knownResolutions,
  ratios: knownRatios,
};

/**
 * Reads a value that several places may contain. They must agree, because no server should choose between two values.
 */
function readAgreed<Value>(claims: readonly Claim[] | undefined, read: (claim: Claim) => Value): Value | undefined {
  const [first, ...others] = claims ?? [];
  if (first === undefined) return undefined;
  const value = read(first);
  for (const other of others) {
    if (JSON.stringify(read(other)) === JSON.stringify(value)) continue;
    throw wrongValue(other.path, `must be the same as ${first.path}, or be left out`, 'another value');
  }
  return value;
}

function readSeconds(claim: Claim, bounds: FieldBounds): number {
  const { path, value } = claim;
  const isText = typeof value === 'string' && bounds.acceptsTextSeconds && /^\d{1,2}$/.test(value);
  const seconds = isText ? Number(value) : typeof value === 'number' ? exactCount(claim.text()) : undefined;
  if (seconds !== undefined && seconds >= bounds.secondsMin && seconds <= bounds.secondsMax) return seconds;
  throw wrongValue(path, `must be a whole number of seconds from ${bounds.secondsMin} to ${bounds.secondsMax}`, showValue(value));
}

function readWord({ path, value }: Claim, words: readonly string[]): string {
  if (typeof value === 'string' && words.includes(value)) return value;
  throw wrongValue(path, `must be one of ${words.map((word) => `'${word}'`).join(', ')}`, showValue(value));
}

/** @throws GatewayError if it is out of bounds, or if two places disagree */
export const readDuration = (claims: VideoClaims, bounds: FieldBounds): number | undefined =>
  readAgreed(claims.get('duration'), (claim) => readSeconds(claim, bounds));

export type Frame = { readonly resolution?: string; readonly aspectRatio?: string };

/** Reads resolution and ratio. A size contains both. */
export function readFrame(claims: VideoClaims, bounds: FieldBounds): Frame {
  const resolution = readAgreed(claims.get('resolution'), (claim) => readWord(claim, bounds.resolutions));
  const aspectRatio = readAgreed(claims.get('aspect_ratio'), (claim) => readWord(claim, bounds.ratios));
  const size = readAgreed(claims.get('size'), (claim) => readWord(claim, sizes));
  const frame = size === undefined ? undefined : frameSizeOf(size);
  const sizePath = claims.get('size')?.[0]?.path ?? 'size';
  for (const [name, implied, stated] of [
    ['resolution', resolution, frame?.resolution],
    ['aspect_ratio', aspectRatio, frame?.aspectRatio],
  ] as const) {
    if (implied === undefined || stated === undefined || implied === stated) continue;
    throw wrongValue(sizePath, `must agree with ${name}, which is '${implied}'`, `'${size ?? ''}'`);
  }
  const lines = resolution ?? frame?.resolution;
  const ratio = aspectRatio ?? frame?.aspectRatio;
  return { ...(lines === undefined ? {} : { resolution: lines }), ...(ratio === undefined ? {} : { aspectRatio: ratio }) };
}

export type InputImages = { readonly mode: 'image' | 'references'; readonly images: readonly VideoInput[] };

function readInputImages(claim: Claim, field: VideoField): InputImages {
  if (field === 'image') return { mode: 'image', images: [readMedium(claim.value, claim.path, 'image')] };
  const images = readMediaList(claim);
  return { mode: field === 'images' && images.length === 1 ? 'image' : 'references', images };
}

const imageFields = ['image', 'images', 'reference_images'] as const;

/** Reads the input images. The contract accepts one image or a list; two fields are refused, whatever their values. */
export function readImages(claims: VideoClaims): InputImages | undefined {
  const present = imageFields.filter((field) => claims.has(field));
  const [field, second] = present;
  if (field === undefined) return undefined;
  const first = claims.get(field);
  const otherPath = second === undefined ? undefined : claims.get(second)?.[0]?.path;
  if (otherPath !== undefined) throw wrongValue(otherPath, `cannot be used together with ${first?.[0]?.path ?? field}`, 'both');
  return readAgreed(first, (claim) => readInputImages(claim, field));
}

/** Reads the input video. */
export const readVideo = (claims: VideoClaims): VideoInput | undefined =>
  readAgreed(claims.get('video'), ({ value, path }) => readMedium(value, path, 'video'));
