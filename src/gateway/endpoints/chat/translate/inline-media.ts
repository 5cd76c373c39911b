import type { DialectId } from '../../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../../dialects/registry.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceRequest, MediaPart, Part, TextPart, Turn } from '../../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../../inference/model-traits.ts';
import type { TranslationNotes } from '../../../../inference/translation-notes.ts';
import { FetchMediaError } from '../../../../platform/http/fetch-media.ts';

/** Fetches what an address names; the caller has set its limits and which addresses are allowed. */
export type FetchMedia = (url: string) => Promise<{ readonly mediaType: string; readonly bytes: Buffer }>;

/** Pictures are fetched by most vendors; documents, only where their dialect can say an address at all. */
function mustInline(part: MediaPart, dialect: DialectId, traits: ModelTraits): boolean {
  if (part.source.kind !== 'url') return false;
  return !traits.fetchesUrls || !chatDialects[dialect].codec.takesAddressOf.includes(part.media);
}

/** Files that one request may have fetched: it is no way to make the gateway crawl. */
const filesMax = 20;

type Fetching = {
  readonly fetchMedia: FetchMedia;
  /** Whether the client has gone: what is fetched then serves nobody. */
  readonly hasLeft: () => boolean;
  readonly notes: TranslationNotes;
};

async function inlinePart(part: MediaPart, { fetchMedia, hasLeft, notes }: Fetching): Promise<MediaPart> {
  if (part.source.kind !== 'url' || hasLeft()) return part;
  try {
    const { mediaType, bytes } = await fetchMedia(part.source.url);
    notes.emulated({ path: part.path, otherwise: 'turns' }, 'the gateway fetched what the address names; the upstream does not');
    return { ...part, source: { kind: 'inline', mediaType, data: bytes.toString('base64') } };
  } catch (error) {
    if (!(error instanceof FetchMediaError)) throw error;
    const param = part.path ?? 'turns';
    throw new GatewayError('invalid_value', `${param}: ${error.message}`, { param, cause: error });
  }
}

/**
 * Fetches the media that a request names by address and its upstream would not fetch. One after another, so that a request is no amplifier,
 * and none once its client has gone.
 */
export async function inlineMedia(
  request: InferenceRequest,
  options: Fetching & { readonly dialect: DialectId; readonly traits: ModelTraits },
): Promise<InferenceRequest> {
  const { dialect, traits } = options;
  const wanted = (part: Part): part is MediaPart => part.kind === 'media' && mustInline(part, dialect, traits);
  const isWanted = (part: Part): boolean => wanted(part) || (part.kind === 'tool-result' && part.content.some(wanted));
  if (!request.turns.some((turn) => turn.parts.some(isWanted))) return request;
  refuseTooMany(request, wanted, options.notes);
  const inlineContent = async (content: readonly (TextPart | MediaPart)[]): Promise<(TextPart | MediaPart)[]> => {
    const inlined: (TextPart | MediaPart)[] = [];
    for (const piece of content) inlined.push(wanted(piece) ? await inlinePart(piece, options) : piece);
    return inlined;
  };
  const turns: Turn[] = [];
  for (const turn of request.turns) {
    const parts: Part[] = [];
    for (const part of turn.parts) {
      if (part.kind === 'tool-result') parts.push({ ...part, content: await inlineContent(part.content) });
      else parts.push(wanted(part) ? await inlinePart(part, options) : part);
    }
    turns.push({ ...turn, parts });
  }
  return { ...request, turns };
}

function refuseTooMany(request: InferenceRequest, wanted: (part: Part) => boolean, notes: TranslationNotes): void {
  const parts = request.turns.flatMap((turn) =>
    turn.parts.flatMap((part): readonly Part[] => (part.kind === 'tool-result' ? part.content : [part])),
  );
  const next = parts.filter(wanted)[filesMax];
  if (next !== undefined)
    notes.refuse({ path: next.path, otherwise: 'turns' }, `at most ${filesMax} files can be named by address for this model`);
}
