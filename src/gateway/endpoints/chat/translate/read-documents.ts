import type { UpstreamDialectId } from '../../../../dialects/dialect-id.ts';
import { upstreamDialects } from '../../../../dialects/registry.ts';
import type { InferenceRequest, MediaPart, Part, TextPart, Turn } from '../../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../../inference/translation-notes.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import { JobError, isolatedJob } from '../../../../platform/isolation/isolated-job.ts';
import { type JobPoolOptions, createJobPool } from '../../../../platform/isolation/job-pool.ts';
import type * as ReadDocumentJob from '../../../../tools/file-search/extraction/read-document-job.ts';

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
    readonly dialect: UpstreamDialectId;
    readonly reader: DocumentReader | undefined;
    readonly userName: string;
    readonly hasLeft: () => boolean;
    readonly notes: TranslationNotes;
  },
): Promise<InferenceRequest> {
  const { dialect, reader, userName, hasLeft, notes } = options;
  if (reader === undefined || upstreamDialects[dialect].codec.readsWordDocuments) return request;
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

const readDocumentJob = isolatedJob<typeof ReadDocumentJob>(
  'read-document',
  new URL('../../../../tools/file-search/extraction/read-document-job.ts', import.meta.url),
);

/** Reads documents that an upstream does not accept. They are parsed in threads that can be terminated. */
export type DocumentReader = {
  /**
   * The text of a Word document.
   * Rejects with GatewayError `invalid_value` if the document cannot be read, and with `overloaded`.
   */
  readonly readText: (bytes: Uint8Array<ArrayBuffer>, options: { readonly tenant: string; readonly param: string }) => Promise<string>;
  readonly close: () => Promise<void>;
};

const limits = {
  threadsMax: 2,
  memoryMegabytes: 256,
  timeoutMs: 10_000,
  outputBytesMax: 16 * 1024 * 1024,
  waitingMax: 128,
  waitingPerTenantMax: 16,
} as const;

/** How long a request waits for a thread and the text together. */
const totalMsMax = 30_000;

export function createDocumentReader(options: Partial<JobPoolOptions> = {}): DocumentReader {
  const pool = createJobPool({ name: 'documents', ...limits, ...options });
  return {
    readText: async (bytes, { tenant, param }) => {
      try {
        const signal = AbortSignal.timeout(totalMsMax);
        const text = await pool.run(readDocumentJob, { bytes }, { tenant, signal, transferred: [bytes.buffer] });
        if (text.trim() !== '') return text;
      } catch (cause) {
        throw describeFailure(cause, param);
      }
      throw new GatewayError('invalid_value', `${param}: the document has no text`, { param });
    },
    close: pool.close,
  };
}

function describeFailure(cause: unknown, param: string): GatewayError {
  const failure = cause instanceof JobError ? cause.failure : 'too-long';
  if (failure === 'too-busy' || failure === 'closed' || failure === 'crashed') {
    const message = 'The gateway is overloaded: too many documents are waiting to be read. Please try again in 1s.';
    return new GatewayError('overloaded', message, { retryAfterSeconds: 1, cause });
  }
  const reasons = {
    'too-long': 'takes too long to read',
    'too-much-memory': 'is too large when it is unpacked',
    'too-much-output': 'has too much text',
    threw: 'is damaged, or is not a Word document',
  } as const;
  return new GatewayError('invalid_value', `${param}: the document ${reasons[failure]}; send its text or a PDF instead`, { param, cause });
}
