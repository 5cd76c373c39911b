import type { VideoServices } from './video-services.ts';
import type { VideoService } from './video-service.ts';
import { readVideoRequest } from '../../../dialects/video-tasks/read-video-request.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { VideoRequest } from '../../../inference/video.ts';
import type { VideoTask } from '../../../tasks/video-task.ts';
import { requireReach } from '../../attempts/routing/rank-targets.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { rankVideoTargets } from './create/rank-video-targets.ts';
import { type CreationPath, formOf } from './create/read-creation.ts';
import { isKept, mediaOf } from './create/video-source.ts';
import { unknownVideo } from './video-context.ts';
import { type QuoteTarget, type QuotedCall, type QuotedTarget, fitTargets } from '../shared/quoted-call.ts';

/**
 * Replaces a file of the gateway that would be sent inline. The cost of a video does not depend on its bytes.
 */
const placeholderUrl = 'https://video.invalid/';

/**
 * Quotes a video request. The cost is read from the body that would be sent.
 * @param remixed the video in the path of a remix
 * @throws GatewayError
 */
export async function quoteVideo(query: QuoteTarget<VideoServices>, path: CreationPath, remixed: string | undefined): Promise<QuotedCall> {
  const { gateway, settings, caller, bytes, body } = query;
  const { videos } = gateway;
  if (videos === undefined) throw new GatewayError('route_not_found', 'this gateway makes no videos');
  const remixedTask = remixed === undefined ? undefined : await findTask(query, videos, remixed);
  const form = formOf(path, body, false);
  const source = remixedTask === undefined ? {} : { source: { taskId: remixedTask.id, model: remixedTask.requestedModel } };
  const { request } = readVideoRequest(
    { form, bytes, body, ...(path.action === undefined ? {} : { action: path.action }), ...source },
    settings.validation,
  );
  const { requestedModel, video, prompt } = request;
  requireReach(caller, settings.routing, requestedModel);
  const task = video?.kind === 'task' ? (remixedTask ?? (await findTask(query, videos, video.taskId))) : undefined;
  if (task !== undefined) mediaOf(task);
  const facts = { requestedModel, stream: false, inputCharacters: prompt.length, needs: [], outputTokensMax: 0 };
  const { explained } = query;
  const steady = explained === undefined ? { ...settings, retries: { ...settings.retries, avoidFailing: false } } : settings;
  const seen = { gateway, settings: steady, caller, request: { headers: query.headers }, onLeftOut: explained?.onLeftOut };
  const targets = rankVideoTargets(seen, facts, undefined);
  return {
    dialect: form,
    requestedModel,
    targets: fitTargets(targets, (target) => quoteTarget(videos, target, request, task), explained?.onLeftOut),
    roundsMax: 1,
  };
}

async function findTask({ caller }: QuoteTarget, { tasks }: VideoService, id: string): Promise<VideoTask> {
  const task = await tasks.find(caller.userName, id);
  if (task === undefined) throw unknownVideo(id);
  return task;
}

/** What the body costs that a target would be sent. */
function quoteTarget({ protocols }: VideoService, target: Target, request: VideoRequest, task: VideoTask | undefined): QuotedTarget {
  const { upstream, upstreamModel } = target;
  if (upstream.services.videos === undefined) throw new Error(`${upstream.id} was chosen for a video and has no video interface`);
  const { billing, body } = protocols[upstream.services.videos].encodeSubmission(
    withSource(request, task, target),
    upstreamModel,
    upstream.facts,
  );
  const { usage, parameters } = billing;
  return { target, usage: { expected: usage, most: usage }, pricingParameters: parameters, sent: body };
}

/**
 * The request with a video of the gateway for a target: by its id and with its form if the target stores it, otherwise
 * by its file.
 */
function withSource(request: VideoRequest, task: VideoTask | undefined, { upstream }: Target): VideoRequest {
  if (task === undefined) return request;
  if (!isKept(task, upstream.id, upstream.services.videos)) return { ...request, video: { kind: 'url', url: placeholderUrl } };
  const { durationMs, pricingParameters, upstreamTaskId = '' } = task;
  const { resolution } = pricingParameters;
  return {
    ...request,
    ...(request.mode === 'remix' && durationMs !== undefined ? { durationSeconds: Math.ceil(durationMs / 1000) } : {}),
    ...(request.mode === 'remix' && resolution !== undefined ? { resolution } : {}),
    video: { kind: 'task', taskId: upstreamTaskId },
  };
}
