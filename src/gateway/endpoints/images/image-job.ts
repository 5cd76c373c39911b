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
import type { Target } from '../../attempts/routing/target.ts';
import type { PictureClient } from '../shared/picture-maker.ts';
import { boundImages, imageInterfaceOf } from './bound-images.ts';
import { findChargedBy } from './count-images.ts';
import { createImageRelay } from './image-relay.ts';
import type { PictureLinks } from './picture-files.ts';
import { needsFiles, writeForTarget } from './write-for-target.ts';

/** A request for pictures that is to be sent. */
export type KnownImages = {
  readonly callId: string;
  readonly asked: ImageRequest;
  /** Whose interface the reply is written in, and what reading the request from it changed or left out. */
  readonly client: PictureClient;
  readonly clientNotes: readonly TranslationNote[];
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Refuses a target that would have to leave something out. */
  readonly strict: boolean;
  /** Its prices are those that it is held by. */
  readonly purchase: Purchase;
  /** Of uploads that are written as JSON. */
  readonly requestBytesMax: number;
  /** Whether this process has room for so much of them. */
  readonly admission: Pick<Admission, 'holdBytes'>;
  /** Called when nothing of the request is needed any more. */
  readonly forget?: (() => void) | undefined;
  /** Keeps pictures and gives them addresses; absent where none are wanted, or no files are kept. */
  readonly links?: PictureLinks | undefined;
};

/** What the attempts of a call for pictures send, and what becomes of the replies. */
export function createImageJob(known: KnownImages): CallJob {
  const { callId, headers, strict, purchase, requestBytesMax, client, clientNotes, links, admission, forget } = known;
  // The pictures of a request are let go of with it: what follows needs no more than their number.
  let request: ImageRequest | undefined = known.asked;
  const asked = withoutPictures(known.asked);
  const plan = async (target: Target): Promise<AttemptPlan> => {
    if (request === undefined) throw new Error('a request for pictures is planned after it was let go of');
    const { form } = imageInterfaceOf(target);
    const own = createFieldNotes(strict);
    const notes = { list: () => [...clientNotes, ...own.list()] };
    if (needsFiles(asked, target)) await links?.checkRoom();
    const ready =
      form === 'openai'
        ? request
        : await inlineUploads(request, { bytesMax: requestBytesMax, holdBytes: (more) => admission.holdBytes(more) });
    const upstreamRequest = createRequest(writeForTarget(ready, target, own, links !== undefined), { headers, client }, target);
    const chargedBy = findChargedBy(purchase, target);
    const isAdapted = form !== 'openai' || client.label !== 'openai-images' || notes.list().length > 0;
    return {
      kind: 'exchange',
      upstreamRequest,
      relay: createImageRelay({
        callId,
        asked,
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
    uses: (target) => (findChargedBy(purchase, target) === 'pieces' ? { outputImages: asked.count } : {}),
    digest: () => digestRequest(Buffer.from(JSON.stringify(asked))),
    sent: () => {},
    forget: () => {
      request = undefined;
      forget?.();
    },
    bound: (attempt) => boundUsage(asked, purchase, attempt),
  };
}

/** As the books name them. */
const interfaceNames = {
  openai: 'openai-images',
  xai: 'xai-images',
  gemini: 'gemini-generate-content',
  imagen: 'imagen-predict',
} as const satisfies Record<ImageInterface['form'], string>;

/** The request with a place in place of each picture, which tells its length. */
function withoutPictures(asked: ImageRequest): ImageRequest {
  const { mask, ...others } = asked;
  return { ...others, sources: asked.sources.map(placeOf), ...(mask !== undefined && { mask: placeOf(mask) }) };
}

function placeOf(input: ImageInput): ImageInput {
  if (input.kind === 'inline') return { ...input, data: `${input.data.length} ${input.data.slice(-32)}` };
  if (input.kind === 'upload') return { kind: 'url', url: `${input.filename} ${input.content.bytes}` };
  return input;
}

function createRequest(
  call: UpstreamImageCall,
  { headers: own, client }: Pick<KnownImages, 'headers' | 'client'>,
  target: Target,
): UpstreamRequest {
  const { upstream } = target;
  const { form, path } = imageInterfaceOf(target);
  const dialects = { client: client.dialect, upstream: isGoogles(form) ? 'gemini-generate-content' : 'openai-chat' } as const;
  const headers = createUpstreamHeaders({ operation: 'generate', body: {}, headers: own }, target, dialects, undefined);
  const address = `${upstream.basePath}${path(call.operation === 'edits' ? 'edits' : 'generations')}`;
  if ('json' in call) {
    if (call.json['stream'] === true) headers['accept'] = 'text/event-stream';
    return { path: address, method: 'POST', headers, body: Buffer.from(JSON.stringify(call.json)) };
  }
  const { contentType, body } = encodeMultipart(call.form);
  const accept = call.form.some((part) => part.name === 'stream') ? 'text/event-stream' : 'application/json';
  const formHeaders = { ...headers, accept, 'content-type': contentType };
  return { path: address, method: 'POST', headers: formHeaders, body: undefined, streamedBody: body };
}

/** Whether its errors and credentials are those of generate-content. */
function isGoogles(form: ImageInterface['form']): boolean {
  return form === 'gemini' || form === 'imagen';
}

function boundUsage(asked: ImageRequest, purchase: Purchase, { target, pricingParameters }: PlannedAttempt): UsageBound {
  const { most } = boundImages(asked, target);
  const isBeyond = (usage: Usage): boolean =>
    countInput(usage) > countInput(most) || (usage.outputTokens ?? 0) > (most.outputTokens ?? 0) || (usage.outputImages ?? 0) > asked.count;
  return {
    isSuspicious: isBeyond,
    find: () => ({ most, nanoUsd: boundAtTarget(purchase, target, { most, pricingParameters }), provesCounts: true }),
  };
}
