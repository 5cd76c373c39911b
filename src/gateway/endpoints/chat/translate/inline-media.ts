import type { UpstreamDialectId } from '../../../../dialects/dialect-id.ts';
import { upstreamDialects } from '../../../../dialects/registry.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { InferenceRequest, MediaPart, Part, TextPart, Turn } from '../../../../inference/inference-request.ts';
import type { ModelTraits } from '../../../../inference/model-traits.ts';
import type { TranslationNotes } from '../../../../inference/translation-notes.ts';
import { FetchMediaError } from '../../../../platform/http/fetch-media.ts';

/** Fetches an address. The caller has set its limits and the addresses that are allowed. */
export type FetchMedia = (url: string) => Promise<{ readonly mediaType: string; readonly bytes: Buffer }>;

/** Most vendors fetch images. They fetch documents only if their dialect has a field for the address. */
function mustInline(part: MediaPart, dialect: UpstreamDialectId, traits: ModelTraits): boolean {
  if (part.source.kind !== 'url') return false;
  return !traits.fetchesUrls || !upstreamDialects[dialect].codec.takesAddressOf.includes(part.media);
}

/** The most files that the gateway fetches for one request. It must not become a crawler. */
const filesMax = 20;

type Fetching = {
  readonly fetchMedia: FetchMedia;
  /** Whether the client has disconnected. Nothing is fetched after that. */
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
 * Fetches the media that a request names by address and that its upstream would not fetch. They are fetched one after
 * another, so that a request cannot be used as an amplifier.
 */
export async function inlineMedia(
  request: InferenceRequest,
  options: Fetching & { readonly dialect: UpstreamDialectId; readonly traits: ModelTraits },
): Promise<InferenceRequest> {
  const { dialect, traits } = options;
  const isFetched = (part: Part): part is MediaPart => part.kind === 'media' && mustInline(part, dialect, traits);
  const holdsFetched = (part: Part): boolean => isFetched(part) || (part.kind === 'tool-result' && part.content.some(isFetched));
  if (!request.turns.some((turn) => turn.parts.some(holdsFetched))) return request;
  refuseTooMany(request, isFetched, options.notes);
  const inlineContent = async (content: readonly (TextPart | MediaPart)[]): Promise<(TextPart | MediaPart)[]> => {
    const inlined: (TextPart | MediaPart)[] = [];
    for (const piece of content) inlined.push(isFetched(piece) ? await inlinePart(piece, options) : piece);
    return inlined;
  };
  const turns: Turn[] = [];
  for (const turn of request.turns) {
    const parts: Part[] = [];
    for (const part of turn.parts) {
      if (part.kind === 'tool-result') parts.push({ ...part, content: await inlineContent(part.content) });
      else parts.push(isFetched(part) ? await inlinePart(part, options) : part);
    }
    turns.push({ ...turn, parts });
  }
  return { ...request, turns };
}

function refuseTooMany(request: InferenceRequest, isFetched: (part: Part) => boolean, notes: TranslationNotes): void {
  const parts = request.turns.flatMap((turn) =>
    turn.parts.flatMap((part): readonly Part[] => (part.kind === 'tool-result' ? part.content : [part])),
  );
  const next = parts.filter(isFetched)[filesMax];
  if (next !== undefined)
    notes.refuse({ path: next.path, otherwise: 'turns' }, `at most ${filesMax} files can be named by address for this model`);
}
