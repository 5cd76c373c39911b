import type { IncomingMessage, ServerResponse } from 'node:http';

import { chatDialects } from '../../dialects/registry.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { authenticate } from '../authenticate.ts';
import { requestIdHeader } from '../exchange/reply-headers.ts';
import type { Gateway } from '../gateway.ts';
import { checkCaller } from '../limits/check-caller.ts';
import { enterGate } from '../overload/enter-gate.ts';
import type { RequestTarget } from '../request-target.ts';
import type { CallReport } from '../telemetry/call-report.ts';
import { writeReply } from '../write-reply.ts';
import { createVideo, remixVideo } from './create/create-video.ts';
import { followVideo } from './follow-video.ts';
import { listVideoModels } from './list-video-models.ts';
import { deleteVideo, listVideos, showVideo } from './list-videos.ts';
import { publicBaseUrl } from './public-base-url.ts';
import { serveContent } from './serve-content.ts';
import { showReceipt } from './show-receipt.ts';
import type { VideoHandler } from './video-context.ts';
import type { VideoAction } from './video-routes.ts';

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
 * Serves the routes of videos. Nothing is done for a caller who is not known, and nothing is found that is not the caller's own.
 * @param id of the video in the path; empty where there is none
 * @param report of a request that makes a video
 * @throws GatewayError
 */
export async function serveVideos(
  gateway: Gateway,
  { request, response, callId, target }: Http,
  { action, id }: { readonly action: VideoAction; readonly id: string },
  report: CallReport | undefined,
): Promise<void> {
  const caller = await authenticate(request, target.queryKeys, gateway.callers);
  if (report !== undefined) report.caller = caller;
  const settings = gateway.settings();
  checkCaller(caller, request, gateway.clock.nowMs(), settings.isProxy);
  const { videos } = gateway;
  if (videos === undefined) throw new GatewayError('route_not_found', 'videos are not made by this gateway');
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  if (response.destroyed) gone.abort();
  const dialect = chatDialects['openai-chat'];
  const followed = report ?? { refused: () => {}, whenClosed: (then: () => void) => void response.once('close', then) };
  const admission = await enterGate(gateway.gatekeeper, { callId, request, response, dialect }, followed, caller.userId);
  if (admission === undefined) return;
  const baseUrl = publicBaseUrl(request, { publicUrl: settings.videos.publicUrl, isProxy: settings.isProxy });
  const { query } = target;
  const context = { gateway, videos, settings, caller, admission, request, response, callId, query, baseUrl, signal: gone.signal, report };
  const answer = await handlers[action](context, id);
  if (answer === undefined) return;
  const headers = { 'content-type': 'application/json', ...answer.headers, [requestIdHeader]: callId };
  writeReply(response, answer.status, headers, Buffer.from(answer.text));
}
