import { chatDialects } from '../../../../dialects/registry.ts';
import type { CallFacts } from '../../../../inference/call-facts.ts';
import type { VideoRequest } from '../../../../inference/video.ts';
import { checkAddress } from '../../../attempts/exchange/private-addresses.ts';
import { receiptHeader, replayedHeader } from '../../../replies/write-reply.ts';
import { parseJson } from '../../../../platform/json/parse-json.ts';
import { withMetadataTags } from '../../../admission/request-tags.ts';
import { reserveCall, type TakenLimits } from '../../../admission/limits/reserve-call.ts';
import { requireReach } from '../../../attempts/routing/rank-targets.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import type { VideoTask } from '../../../../tasks/video-task.ts';
import { checkMediaQuota } from '../../shared/check-media-quota.ts';
import { encodeCreated } from '../encode-task.ts';
import { readIdempotency } from '../idempotency-key.ts';
import { findTask, type VideoContext, type VideoHandler } from '../video-context.ts';
import { rankVideoTargets } from './rank-video-targets.ts';
import { type CreationPath, readCreation } from './read-creation.ts';
import { type SubmittedTask, VideoAttempts } from './video-attempts.ts';
import { findSource, type VideoSource } from './video-source.ts';

/** The header that names ignored fields. */
const ignoredHeader = 'x-weir-ignored-fields';
const ignoredMax = 32;

/** Creates the handler of a path that makes videos. */
export function createVideo(path: CreationPath): VideoHandler {
  return (context) => create(context, path);
}

/** Answers `POST /v1/videos/{id}/remix`. A video of another user is not found, whatever the body contains. */
export const remixVideo: VideoHandler = async (context, id) => {
  const { requestedModel } = await findTask(context, id);
  return await create(context, { form: 'openai-videos', source: { taskId: id, model: requestedModel } });
};

async function create(received: VideoContext, path: CreationPath): ReturnType<VideoHandler> {
  const { gateway, report, request: http } = received;
  const acceptedAtMs = gateway.clock.nowMs();
  const { request: asked, ignored } = await readCreation(received, path);
  const context = withTags(received, asked);
  const { caller } = context;
  const request = checkCallback(context, asked);
  const { requestedModel } = request;
  const inputCharacters = request.prompt.length;
  const facts: CallFacts = { requestedModel, stream: false, inputCharacters, needs: [], outputTokensMax: 0 };
  if (report !== undefined) report.facts = facts;
  requireReach(caller, context.settings.routing, requestedModel);
  const idempotency = readIdempotency(http.headers, { caller, request, nowMs: acceptedAtMs });
  const repeated = idempotency === undefined ? undefined : await context.videos.tasks.findKeyed(idempotency);
  if (repeated !== undefined) return await answerRepeated(context, facts, repeated, ignored);
  const source = await findSource(context, request);
  checkMedia(context, request, source);
  const targets = rankVideoTargets(context, facts, source);
  await checkMediaQuota({ store: context.videos.store, caller: context.caller, userBytesMax: context.settings.videos.userBytesMax });
  const taken = await takeLimits(context, facts, targets[0]);
  report?.exchanging();
  try {
    const submitted = await new VideoAttempts(context, { request, source, idempotency, acceptedAtMs }).run(targets);
    report?.ended('finished', undefined);
    const repeated = submitted.isRepeated === true ? { [replayedHeader]: 'true' } : {};
    return answer(context, submitted, { ...taken?.headers, ...nameIgnored([...ignored, ...submitted.ignored]), ...repeated });
  } finally {
    // The usage has no tokens. The cost is known at the end of the task.
    taken?.reservation.settle(0);
  }
}

/** The request with the tags that its metadata name. @throws GatewayError `invalid_value` */
function withTags(context: VideoContext, { metadata }: VideoRequest): VideoContext {
  const { settings, report } = context;
  if (settings.metadataTags === undefined) return context;
  const caller = withMetadataTags(context.caller, settings.metadataTags, parseJson(metadata));
  if (report !== undefined) report.caller = caller;
  return { ...context, caller };
}

/** Answers a repetition with the current task. It counts as a request for the rate limits and needs no credit. */
async function answerRepeated(
  context: VideoContext,
  facts: CallFacts,
  task: VideoTask,
  ignored: readonly string[],
): ReturnType<VideoHandler> {
  const taken = await takeLimits(context, facts, undefined);
  taken?.reservation.settle(0);
  context.report?.ended('finished', undefined);
  const submitted = { task, ignored: [], isRepeated: true } as const;
  return answer(context, submitted, { ...taken?.headers, ...nameIgnored(ignored), [replayedHeader]: 'true' });
}

/** Checks the URL of the callback. @throws GatewayError `invalid_value` */
function checkCallback({ gateway }: VideoContext, request: VideoRequest): VideoRequest {
  const { callbackUrl } = request;
  if (callbackUrl === undefined || gateway.callbacks === undefined) return request;
  return { ...request, callbackUrl: gateway.callbacks.readUrl(callbackUrl, 'callback_url') };
}

/** Vendors fetch media URLs. @throws GatewayError `invalid_value` for a URL in a private network */
function checkMedia({ settings }: VideoContext, { images, video }: VideoRequest, source: VideoSource | undefined): void {
  if (settings.allowsPrivateMedia === true) return;
  for (const [index, image] of images.entries())
    if (image.kind === 'url') checkAddress(image.url, images.length === 1 ? 'image' : `images[${index}]`);
  // The gateway's own URL of a video is not forwarded, so it may be private.
  if (source === undefined && video?.kind === 'url') checkAddress(video.url, 'video');
}

function takeLimits(
  { gateway, settings, caller }: VideoContext,
  facts: CallFacts,
  target: Target | undefined,
): TakenLimits | Promise<TakenLimits> | undefined {
  const { limiter, clock } = gateway;
  const { voice } = chatDialects['openai-chat'];
  return reserveCall({ limiter, clock, voice, caller, perKey: settings.perKey, facts, model: target?.model });
}

/** The names come from the request, so only those that a header can contain are repeated. */
function nameIgnored(ignored: readonly string[]): Readonly<Record<string, string>> {
  const names = [...new Set(ignored)].filter((name) => /^[\w.[\]-]{1,80}$/.test(name)).slice(0, ignoredMax);
  return names.length === 0 ? {} : { [ignoredHeader]: names.join(', ') };
}

function answer(context: VideoContext, { task }: SubmittedTask, headers: Readonly<Record<string, string>>): ReturnType<VideoHandler> {
  const encoded = encodeCreated(context, task);
  const receipt = { [receiptHeader]: `/v1/videos/${task.id}/receipt` };
  return Promise.resolve({ ...encoded, headers: { ...encoded.headers, ...headers, ...receipt } });
}
