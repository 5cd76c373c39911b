import { selectRange } from '../tasks/media/select-range.ts';
import type { ByteRange } from '../tasks/media/media-storage.ts';
import type { AdminContext, StreamAnswer } from './operation.ts';
import { AdminProblem, notFound } from './problem.ts';

/** A stored file of a user. */
export type StoredContent = {
  /** As the object's own name for a saved file: letters, digits, `_`, `-` and `.`. */
  readonly id: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Identifies the content; no quotation marks. */
  readonly tag: string;
  /** Its bytes or a part of them; undefined if there is no file any more. */
  readonly open: (range: ByteRange | undefined) => Promise<AsyncIterable<Uint8Array> | undefined>;
};

/** What a browser may show in place: it never runs scripts. SVG and HTML do, so they are saved and never shown. */
const shown = /^(?:video\/[\w.+-]+|audio\/[\w.+-]+|image\/(?:png|jpeg|gif|webp|avif|bmp))(?:;|$)/i;

/**
 * A user's file as an answer (requirement S11): with its stored type, a policy that allows nothing, and as a file to be
 * saved unless it is video, audio or a raster image. Every answer of the API has the policy `sandbox` and `nosniff`.
 * @throws AdminProblem `range_not_satisfiable`, `not_found`
 */
export async function answerContent(content: StoredContent, { range }: Pick<AdminContext<unknown>, 'range'>): Promise<StreamAnswer> {
  const { id, bytes, tag, open } = content;
  const entityTag = `"${tag}"`;
  const mediaType = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=[\w.+-]+)*$/.test(content.mediaType) ? content.mediaType : 'application/octet-stream';
  const selected = selectRange(range?.field, { ifRange: range?.ifRange, entityTag, bytes });
  if (selected.type === 'unsatisfiable')
    throw new AdminProblem('range_not_satisfiable', `The file has ${bytes} bytes.`, { headers: { 'content-range': `bytes */${bytes}` } });
  const part = selected.type === 'part' ? selected.range : undefined;
  const stream = await open(part);
  if (stream === undefined) throw notFound('file of this object any more');
  const length = part === undefined ? bytes : part.end - part.start + 1;
  const headers = {
    etag: entityTag,
    'accept-ranges': 'bytes',
    'content-length': String(length),
    ...(part !== undefined && { 'content-range': `bytes ${part.start}-${part.end}/${bytes}` }),
  };
  const answer = { stream, contentType: mediaType, headers, status: part === undefined ? 200 : 206 } as const;
  return shown.test(mediaType) ? answer : { ...answer, fileName: id };
}
