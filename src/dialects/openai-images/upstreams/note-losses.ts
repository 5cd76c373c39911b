import type { ImageRequest } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';

/** Members of a request that an upstream may have no field for, as clients write them, and what they come to. */
const fields = {
  quality: ['quality', 'the model has no choice of quality'],
  background: ['background', 'the model chooses the background itself'],
  outputFormat: ['output_format', 'the model chooses the file format itself'],
  outputCompression: ['output_compression', 'the model chooses the compression itself'],
  moderation: ['moderation', 'the model has no choice of moderation'],
  style: ['style', 'the model has no choice of style: ask for it in the prompt'],
  inputFidelity: ['input_fidelity', 'the model chooses how near it stays to its sources'],
  endUser: ['user', 'the vendor takes no ids of end users'],
  resolution: ['resolution', 'the model has one class of size'],
} as const satisfies Partial<Record<keyof ImageRequest, readonly [string, string]>>;

/** Notes each of these members that the request has, and that its upstream cannot be asked for. */
export function noteLosses(request: ImageRequest, lost: readonly (keyof typeof fields)[], notes: FieldNotes): void {
  for (const member of lost) {
    const [field, reason] = fields[member];
    if (request[member] !== undefined) notes.dropped(field, reason);
  }
}

/** Notes fields of the client's interface that have no meaning elsewhere. */
export function noteOtherFields({ otherFields }: ImageRequest, notes: FieldNotes): void {
  for (const field of Object.keys(otherFields)) notes.dropped(field.slice(0, 80), 'the vendor of the model has no such field');
}

/** For upstreams that answer at once: a stream is made of the finished pictures, and there are no unfinished ones. */
export function noteWhole({ stream, partialImages }: ImageRequest, notes: FieldNotes): void {
  if (stream) notes.emulated('stream', 'the model answers at once: finished pictures are sent as the events of a stream');
  if (partialImages > 0) notes.dropped('partial_images', 'the model shows no unfinished pictures');
}

/** Refuses more pictures than a call can make. */
export function limitCount({ count }: ImageRequest, countMax: number, notes: FieldNotes): void {
  if (count <= countMax) return;
  const makes = countMax === 1 ? 'one picture' : `up to ${countMax} pictures`;
  notes.refuse('n', `the model makes ${makes} a call, and ${count} are asked for: send several calls`);
}
