import type { IncomingMessage, ServerResponse } from 'node:http';

import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { requestIdHeader, writeReply } from '../../replies/write-reply.ts';
import { enter } from '../../admission/enter.ts';
import type { VideoServices } from './video-services.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import type { RequestTarget } from '../../admission/read-request.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { createVideo, remixVideo } from './create/create-video.ts';
import { followVideo } from './follow-video.ts';
import { listVideoModels } from './list-video-models.ts';
import { deleteVideo, listVideos, showVideo } from './list-videos.ts';
import { disconnectSignal } from '../shared/content/serve-file.ts';
import { publicBaseUrl } from '../shared/public-base-url.ts';
import { serveContent } from './serve-content.ts';
import { showReceipt } from './show-receipt.ts';
import type { VideoHandler } from './video-context.ts';
import type { VideoAction } from './video-routes.ts';

const { voice } = chatDialects['openai-chat'];

const handlers: Readonly<Record<VideoAction, VideoHandler>> = {
  create: createVideo({ form: 'video-generations' }),
  'create-by-content': createVideo({ form: 'by-content' }),
  'xai-generate': createVideo({ form: 'xai-videos', action: 'generate' }),
  'xai-edit': createVideo({ form: 'xai-videos', action: 'edit' }),
  'xai-extend': createVideo({ form: 'xai-videos', action: 'extend' }),
  remix: remixVideo,
  list: listVideos,
  models: listVideoModels,
  show: showVideo,
  delete: deleteVideo,
  content: serveContent,
  events: followVideo,
  receipt: showReceipt,
};

type Http = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly callId: string;
  readonly target: RequestTarget;
};

/**
 * Serves the routes of videos for an authenticated caller, who only finds videos of the own user.
 * @param id of the video in the path; empty if there is none
 * @param report of a request that makes a video
 * @throws GatewayError
 */
export async function serveVideos(
  gateway: VideoServices,
  http: Http,
  { action, id }: { readonly action: VideoAction; readonly id: string },
  report: CallReport | undefined,
): Promise<void> {
  const { request, response, callId, target } = http;
  const owner = action === 'content' ? await findLinkedOwner(gateway, target, id) : undefined;
  if (owner !== undefined) return await serveLinked(gateway, http, { owner, id });
  const entered = await enter(gateway, http, voice, report).catch((error: unknown) => {
    throw describeRefusal(error, action, target);
  });
  if (entered === undefined) return;
  const { caller, admission } = entered;
  const settings = gateway.settings();
  const { videos } = gateway;
  if (videos === undefined) throw new GatewayError('route_not_found', 'this gateway makes no videos');
  const signal = disconnectSignal(response);
  const baseUrl = publicBaseUrl(request, { publicUrl: settings.videos.publicUrl, isProxy: settings.isProxy });
  const { query } = target;
  const context = { gateway, videos, settings, caller, admission, request, response, callId, query, baseUrl, signal, report };
  const answer = await handlers[action](context, id);
  if (answer === undefined) return;
  const headers = { 'content-type': 'application/json', ...answer.headers, [requestIdHeader]: callId };
  writeReply(response, answer.status, headers, Buffer.from(answer.text));
}

/**
 * The owner of the file that a link opens. Undefined without a valid link: then a key is required.
 */
async function findLinkedOwner({ videos, clock }: VideoServices, { query }: RequestTarget, id: string): Promise<string | undefined> {
  const link = videos?.links.read(id, query, clock.nowMs());
  if (videos === undefined || link === undefined) return undefined;
  const owner = await videos.store.findTaskOwner(id).catch((cause: unknown) => {
    throw new GatewayError('tasks_unavailable', 'Video tasks cannot be read at the moment.', { cause, internal: 'the owner of a link' });
  });
  return owner !== undefined && videos.links.isSigned(link, owner) ? owner : undefined;
}

/**
 * Sends a file by its link. For the fair gate, all links of a user are one tenant, separate from the user's own calls.
 */
async function serveLinked(
  gateway: VideoServices,
  http: Http,
  { owner, id }: { readonly owner: string; readonly id: string },
): Promise<void> {
  const { videos, gatekeeper } = gateway;
  const { request, response, callId, target } = http;
  const admission = await enterGate(gatekeeper, { callId, request, response, voice }, undefined, `links of ${owner}`);
  if (admission === undefined || videos === undefined) return;
  const settings = gateway.settings();
  const caller = { userName: owner };
  await serveContent(
    { gateway, videos, settings, caller, request, response, callId, query: target.query, signal: disconnectSignal(response) },
    id,
  );
}

/** The error names the link, because a client with an invalid link does not need a key. */
function describeRefusal(error: unknown, action: VideoAction, { query }: RequestTarget): unknown {
  const isLink = action === 'content' && query.has('signature');
  if (!isLink || !(error instanceof GatewayError) || error.code !== 'missing_api_key') return error;
  return new GatewayError('invalid_api_key', 'This link is invalid or has expired. Request the video again, or send an API key.');
}
