import type { VideoInput } from '../../inference/video.ts';
import type { Claim, VideoField } from './field-names.ts';
import { documentedRatios, documentedResolutions, frameSizeOf, knownRatios, knownResolutions, sizes } from './frame-sizes.ts';
import { exactCount } from './json-text.ts';
import { readMediaList, readMedium } from './read-media.ts';
import { showValue, wrongValue } from './request-problem.ts';

/** All that a request says, at its top and in its metadata, by what it is about. */
export type Said = ReadonlyMap<VideoField, readonly Claim[]>;

/** Bounds of one form in one mode. */
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

/** The same thing said in several places must be the same everywhere: which of two counts is for no server to choose. */
function readAgreed<Value>(claims: readonly Claim[] | undefined, read: (claim: Claim) => Value): Value | undefined {
  const [first, ...others] = claims ?? [];
  if (first === undefined) return undefined;
  const value = read(first);
  for (const other of others) {
    if (JSON.stringify(read(other)) === JSON.stringify(value)) continue;
    throw wrongValue(other.path, `must be the same as ${first.path}, or be left out`, 'something else');
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

/** @throws GatewayError when it is out of its bounds, or said twice in different ways */
export const readDuration = (said: Said, bounds: FieldBounds): number | undefined =>
  readAgreed(said.get('duration'), (claim) => readSeconds(claim, bounds));

export type Frame = { readonly resolution?: string; readonly aspectRatio?: string };

/** Resolution and ratio, which a size says both. */
export function readFrame(said: Said, bounds: FieldBounds): Frame {
  const resolution = readAgreed(said.get('resolution'), (claim) => readWord(claim, bounds.resolutions));
  const aspectRatio = readAgreed(said.get('aspect_ratio'), (claim) => readWord(claim, bounds.ratios));
  const size = readAgreed(said.get('size'), (claim) => readWord(claim, sizes));
  const frame = size === undefined ? undefined : frameSizeOf(size);
  const sizePath = said.get('size')?.[0]?.path ?? 'size';
  for (const [name, said1, said2] of [
    ['resolution', resolution, frame?.resolution],
    ['aspect_ratio', aspectRatio, frame?.aspectRatio],
  ] as const) {
    if (said1 === undefined || said2 === undefined || said1 === said2) continue;
    throw wrongValue(sizePath, `must agree with ${name}, which is '${said1}'`, `'${size ?? ''}'`);
  }
  const lines = resolution ?? frame?.resolution;
  const ratio = aspectRatio ?? frame?.aspectRatio;
  return { ...(lines === undefined ? {} : { resolution: lines }), ...(ratio === undefined ? {} : { aspectRatio: ratio }) };
}

export type Pictures = { readonly mode: 'image' | 'references'; readonly images: readonly VideoInput[] };

function readPictures(claim: Claim, field: VideoField): Pictures {
  if (field === 'image') return { mode: 'image', images: [readMedium(claim.value, claim.path, 'image')] };
  const images = readMediaList(claim);
  return { mode: field === 'images' && images.length === 1 ? 'image' : 'references', images };
}

const pictureFields = ['image', 'images', 'reference_images'] as const;

/** The pictures that a video is made from. The contract takes either one or several: two fields of them are refused, whatever they say. */
export function readImages(said: Said): Pictures | undefined {
  const given = pictureFields.filter((field) => said.has(field));
  const [field, second] = given;
  if (field === undefined) return undefined;
  const claims = said.get(field);
  const otherPath = second === undefined ? undefined : said.get(second)?.[0]?.path;
  if (otherPath !== undefined) throw wrongValue(otherPath, `cannot be used together with ${claims?.[0]?.path ?? field}`, 'both');
  return readAgreed(claims, (claim) => readPictures(claim, field));
}

/** The video that another one is made from. */
export const readVideo = (said: Said): VideoInput | undefined =>
  readAgreed(said.get('video'), ({ value, path }) => readMedium(value, path, 'video'));
