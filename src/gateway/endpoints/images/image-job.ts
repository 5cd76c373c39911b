import { inlineUploads } from '../../../dialects/openai-images/inline-uploads.ts';
import type { UpstreamImageCall } from '../../../dialects/openai-images/upstreams/upstream-image-call.ts';
import type { ImageInput, ImageRequest } from '../../../inference/image.ts';
import { countInput } from '../../../inference/meters.ts';
import { createFieldNotes, type TranslationNote } from '../../../inference/translation-notes.ts';
import type { Usage } from '../../../inference/usage.ts';
import { encodeMultipart } from '../../../platform/http/multipart-body.ts';
import type { UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { boundAtTarget, type Purchase } from '../../attempts/books/bound-call.ts';
import type { UsageBound } from '../../attempts/books/settle.ts';
import type { AttemptPlan, CallJob, PlannedAttempt } from '../../attempts/call-job.ts';
import { createUpstreamHeaders } from '../../attempts/exchange/prepare-request.ts';
import { digestRequest } from '../../attempts/health/attempt.ts';
import { serviceAt, type Target } from '../../attempts/routing/target.ts';
import type { ImageClient } from '../shared/image-maker.ts';
import { boundImages, imageInterfaceOf } from './bound-images.ts';
import { findChargedBy } from './count-images.ts';
import { createImageRelay } from './image-relay.ts';
import type { ImageLinks } from './image-files.ts';
import { needsFiles, writeForTarget } from './write-for-target.ts';

/** An image request that can be sent. */
export type PreparedImageRequest = {
  readonly callId: string;
  readonly request: ImageRequest;
  /** The interface of the client, and the notes of decoding the request. */
  readonly client: ImageClient;
  readonly clientNotes: readonly TranslationNote[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Refuses targets that do not support a part of the request. */
  readonly strict: boolean;
  /** Has the prices that the hold used. */
  readonly purchase: Purchase;
  /** The maximum of uploads that are sent as JSON. */
  readonly requestBytesMax: number;
  /** Whether this process has memory for them. */
  readonly admission: Pick<Admission, 'holdBytes'>;
  /** Called when the request is no longer needed. */
  readonly forget?: (() => void) | undefined;
  /** Stores images and links them. Absent if the client wants no links, or the gateway stores no files. */
  readonly links?: ImageLinks | undefined;
};

/** Creates the job of an image call. */
export function createImageJob(prepared: PreparedImageRequest): CallJob {
  const { callId, headers, strict, purchase, requestBytesMax, client, clientNotes, links, admission, forget } = prepared;
  // `forget` drops the source images with the request. Only their number is needed afterwards.
  let full: ImageRequest | undefined = prepared.request;
  const request = withoutPictures(prepared.request);
  const plan = async (target: Target): Promise<AttemptPlan> => {
    if (full === undefined) throw new Error('an image request was planned after it was dropped');
    const { form } = imageInterfaceOf(target);
    const own = createFieldNotes(strict);
    const notes = { list: () => [...clientNotes, ...own.list()] };
    if (needsFiles(request, target)) await links?.checkRoom();
    const sendable =
      form === 'openai' ? full : await inlineUploads(full, { bytesMax: requestBytesMax, holdBytes: (more) => admission.holdBytes(more) });
    const upstreamRequest = createRequest(writeForTarget(sendable, target, own, links !== undefined), { headers, client }, target);
    const chargedBy = findChargedBy(purchase, target);
    const isAdapted = form !== 'openai' || client.label !== 'openai-images' || notes.list().length > 0;
    return {
      kind: 'exchange',
      upstreamRequest,
      relay: createImageRelay({
        callId,
        request,
        client,
        target,
        chargedBy,
        notes: notes.list(),
        createdAtMs: purchase.acceptedAtMs,
        link: links?.link,
      }),
      ...(isAdapted && { translation: { upstream: { id: interfaceNames[form] }, notes, replyNotes: { list: () => [] } } }),
    };
  };
  return {
    isFree: false,
    plan,
    uses: (target) => (findChargedBy(purchase, target) === 'pieces' ? { outputImages: request.count } : {}),
    digest: () => digestRequest(Buffer.from(JSON.stringify(request))),
    sent: () => {},
    forget: () => {
      full = undefined;
      forget?.();
    },
    bound: (attempt) => boundUsage(request, purchase, attempt),
  };
}

/** The names in the books. */
const interfaceNames = {
  openai: 'openai-images',
  xai: 'xai-images',
  gemini: 'gemini-generate-content',
  imagen: 'imagen-predict',
} as const satisfies Record<ImageInterface['form'], string>;

/** The request with a short placeholder for each source image. */
function withoutPictures(request: ImageRequest): ImageRequest {
  const { mask, ...others } = request;
  return { ...others, sources: request.sources.map(placeOf), ...(mask !== undefined && { mask: placeOf(mask) }) };
}

function placeOf(input: ImageInput): ImageInput {
  if (input.kind === 'inline') return { ...input, data: `${input.data.length} ${input.data.slice(-32)}` };
  if (input.kind === 'upload') return { kind: 'url', url: `${input.filename} ${input.content.bytes}` };
  return input;
}

function createRequest(
  call: UpstreamImageCall,
  { headers: own, client }: Pick<PreparedImageRequest, 'headers' | 'client'>,
  target: Target,
): UpstreamRequest {
  const { upstream, upstreamModel } = target;
  const { form, path } = imageInterfaceOf(target);
  const dialects = { client: client.dialect, upstream: isGoogles(form) ? 'gemini-generate-content' : 'openai-chat' } as const;
  const headers = createUpstreamHeaders({ operation: 'generate', body: {}, headers: own }, target, dialects, undefined);
  const address = serviceAt(upstream, path(call.operation === 'edits' ? 'edits' : 'generations'), upstreamModel);
  if ('json' in call) {
    if (call.json['stream'] === true) headers['accept'] = 'text/event-stream';
    return { path: address, method: 'POST', headers, body: Buffer.from(JSON.stringify(call.json)) };
  }
  const { contentType, body } = encodeMultipart(call.form);
  const accept = call.form.some((part) => part.name === 'stream') ? 'text/event-stream' : 'application/json';
  const formHeaders = { ...headers, accept, 'content-type': contentType };
  return { path: address, method: 'POST', headers: formHeaders, body: undefined, streamedBody: body };
}

/** Whether its errors and credentials have the form of generate-content. */
function isGoogles(form: ImageInterface['form']): boolean {
  return form === 'gemini' || form === 'imagen';
}

function boundUsage(request: ImageRequest, purchase: Purchase, { target, pricingParameters }: PlannedAttempt): UsageBound {
  const { most } = boundImages(request, target);
  const isBeyond = (usage: Usage): boolean =>
    countInput(usage) > countInput(most) ||
    (usage.outputTokens ?? 0) > (most.outputTokens ?? 0) ||
    (usage.outputImages ?? 0) > request.count;
  return {
    isSuspicious: isBeyond,
    find: () => ({ most, nanoUsd: boundAtTarget(purchase, target, { most, pricingParameters }), provesCounts: true }),
  };
}
