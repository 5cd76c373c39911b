import { beginReport } from '../shared/begin-report.ts';
import type { Endpoint, EndpointRoute, PathMatch, Quote } from '../shared/endpoint.ts';
import { dialectOfHeaders, wordingOf } from '../shared/wording.ts';
import type { CreationPath } from './create/read-creation.ts';
import { videoHeadOperation, videoOperation } from './open-api/video-operations.ts';
import { videoSchemas } from './open-api/video-schemas.ts';
import { quoteVideo } from './quote-video.ts';
import { serveVideos } from './serve-videos.ts';
import { makesVideo, type VideoAction, videoRoutes } from './video-routes.ts';
import type { VideoServices } from './video-services.ts';
import { videoVoice } from './video-voice.ts';

const label = 'video-tasks';

/** The interface of each path that makes videos. */
const creationPaths: Readonly<Partial<Record<VideoAction, CreationPath>>> = {
  create: { form: 'video-generations' },
  'create-by-content': { form: 'by-content' },
  'xai-generate': { form: 'xai-videos', action: 'generate' },
  'xai-edit': { form: 'xai-videos', action: 'edit' },
  'xai-extend': { form: 'xai-videos', action: 'extend' },
  remix: { form: 'openai-videos' },
};

function quote(action: VideoAction, path: CreationPath, { params }: PathMatch): Quote<VideoServices> {
  return (asked) => quoteVideo(asked, path, action === 'remix' ? (params['id'] ?? '') : undefined);
}

/** Videos have idempotency keys of their own, in the store of tasks. */
function route({ method, path, action }: (typeof videoRoutes)[number]): EndpointRoute<VideoServices> {
  const created = creationPaths[action];
  return {
    method,
    path,
    ...(created === undefined ? {} : { quote: (match) => quote(action, created, match) }),
    openApi: { operation: () => videoOperation(action), ...(action === 'content' ? { head: videoHeadOperation } : {}) },
    serve: (services, http, { params }) => {
      const report = makesVideo(action) ? beginReport(services, http, label) : undefined;
      return serveVideos(services, { ...http, response: http.client }, { action, id: params['id'] ?? '' }, report);
    },
  };
}

/** Videos. They are tasks, which continue after the request. */
export const videosEndpoint: Endpoint<VideoServices> = {
  name: 'videos',
  routes: videoRoutes.map(route),
  voice: {
    owns: (path) => /^\/v1\/(?:videos|video\/generations)(?:\/|$)/.test(path),
    wording: (path, headers) => ({ voice: videoVoice(wordingOf(dialectOfHeaders(headers)).voice, path), label }),
  },
  schemas: videoSchemas,
};
