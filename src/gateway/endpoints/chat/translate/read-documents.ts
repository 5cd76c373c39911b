import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import type { InferenceRequest, MediaPart, Part, TextPart, Turn } from '../../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../../inference/translation-notes.ts';
import type { DocumentReader } from './document-reader.ts';

const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** Media types that do not identify a format. The file name then decides. */
const vagueTypes: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'application/zip', 'application/x-zip-compressed']);

type InlineDocument = MediaPart & { readonly source: Extract<MediaPart['source'], { kind: 'inline' }> };

function isDocx(part: Part): part is InlineDocument {
  if (part.kind !== 'media' || part.media !== 'file' || part.source.kind !== 'inline') return false;
  const type = (part.source.mediaType.split(';')[0] ?? '').trim().toLowerCase();
  return type === docxType || (vagueTypes.has(type) && /\.docx$/i.test(part.filename ?? ''));
}

/**
 * Replaces Word documents by their text for upstreams that do not accept them: of the four interfaces only Responses
 * does. Rejects with GatewayError if a document cannot be read.
 */
export async function readDocuments(
  request: InferenceRequest,
  options: {
    readonly dialect: DialectId;
    readonly reader: DocumentReader | undefined;
    readonly userName: string;
    readonly hasLeft: () => boolean;
    readonly notes: TranslationNotes;
  },
): Promise<InferenceRequest> {
  const { dialect, reader, userName, hasLeft, notes } = options;
  if (reader === undefined || chatDialects[dialect].codec.readsWordDocuments) return request;
  const hasDocx = (part: Part): boolean => isDocx(part) || (part.kind === 'tool-result' && part.content.some(isDocx));
  if (!request.turns.some((turn) => turn.parts.some(hasDocx))) return request;
  const read = async <Kind extends Part>(part: Kind): Promise<Kind> => {
    if (!isDocx(part) || hasLeft()) return part;
    const param = part.path ?? 'turns';
    // The thread takes over this memory, so it must not be shared.
    const bytes = new Uint8Array(Buffer.from(part.source.data, 'base64'));
    const text = await reader.readText(bytes, { tenant: userName, param });
    notes.emulated(
      { path: part.path, otherwise: 'turns' },
      'the gateway sent the text of the document; the vendor does not accept documents of this type',
    );
    return { ...part, source: { kind: 'text', text } };
  };
  const turns: Turn[] = [];
  for (const turn of request.turns) {
    const parts: Part[] = [];
    for (const part of turn.parts) {
      if (part.kind !== 'tool-result') parts.push(await read(part));
      else {
        const content: (TextPart | MediaPart)[] = [];
        for (const piece of part.content) content.push(await read(piece));
        parts.push({ ...part, content });
      }
    }
    turns.push({ ...turn, parts });
  }
  return { ...request, turns };
}
