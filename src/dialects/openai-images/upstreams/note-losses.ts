import type { ImageRequest } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';

/** Request members that an upstream may not support, by their names in the request, with the note about each. */
const fields = {
  quality: ['quality', 'the model has no quality setting'],
  background: ['background', 'the model chooses the background itself'],
  outputFormat: ['output_format', 'the model chooses the file format itself'],
  outputCompression: ['output_compression', 'the model chooses the compression itself'],
  moderation: ['moderation', 'the model has no moderation setting'],
  style: ['style', 'the model has no style setting: describe the style in the prompt'],
  inputFidelity: ['input_fidelity', 'the model chooses how closely it follows its sources'],
  endUser: ['user', 'the vendor does not accept ids of end users'],
  resolution: ['resolution', 'the model has one size class'],
} as const satisfies Partial<Record<keyof ImageRequest, readonly [string, string]>>;

/** Notes each of these members that the request has and its upstream does not support. */
export function noteLosses(request: ImageRequest, unsupported: readonly (keyof typeof fields)[], notes: FieldNotes): void {
  for (const member of unsupported) {
    const [field, reason] = fields[member];
    if (request[member] !== undefined) notes.dropped(field, reason);
  }
}

/** Notes fields of the client's interface that have no meaning elsewhere. */
export function noteOtherFields({ otherFields }: ImageRequest, notes: FieldNotes): void {
  for (const field of Object.keys(otherFields)) notes.dropped(field.slice(0, 80), 'the vendor of the model does not have this field');
}

/** For upstreams without streams: the stream consists of the finished images, without partial ones. */
export function noteWhole({ stream, partialImages }: ImageRequest, notes: FieldNotes): void {
  if (stream) notes.emulated('stream', 'the model does not stream: finished images are sent as the events of a stream');
  if (partialImages > 0) notes.dropped('partial_images', 'the model sends no partial images');
}

/** Refuses a request for more images than one call can generate. */
export function limitCount({ count }: ImageRequest, countMax: number, notes: FieldNotes): void {
  if (count <= countMax) return;
  const limit = countMax === 1 ? 'one image' : `at most ${countMax} images`;
  notes.refuse('n', `the model generates ${limit} per call, but ${count} were requested: send several calls`);
}
