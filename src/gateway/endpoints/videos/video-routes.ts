/** What can be asked about videos. */
export type VideoAction =
  | 'create'
  | 'create-by-content'
  | 'xai-generate'
  | 'xai-edit'
  | 'xai-extend'
  | 'remix'
  | 'list'
  | 'models'
  | 'show'
  | 'delete'
  | 'content'
  | 'events'
  | 'receipt';

/** Every route of videos, for the route table. */
export const videoRoutes: readonly { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string; readonly action: VideoAction }[] = [
  { method: 'POST', path: '/v1/video/generations', action: 'create' },
  { method: 'GET', path: '/v1/video/generations/:id', action: 'show' },
  { method: 'POST', path: '/v1/videos', action: 'create-by-content' },
  { method: 'GET', path: '/v1/videos', action: 'list' },
  { method: 'GET', path: '/v1/videos/models', action: 'models' },
  { method: 'POST', path: '/v1/videos/generations', action: 'xai-generate' },
  { method: 'POST', path: '/v1/videos/edits', action: 'xai-edit' },
  { method: 'POST', path: '/v1/videos/extensions', action: 'xai-extend' },
  { method: 'GET', path: '/v1/videos/:id', action: 'show' },
  { method: 'DELETE', path: '/v1/videos/:id', action: 'delete' },
  { method: 'POST', path: '/v1/videos/:id/remix', action: 'remix' },
  { method: 'GET', path: '/v1/videos/:id/content', action: 'content' },
  { method: 'GET', path: '/v1/videos/:id/events', action: 'events' },
  { method: 'GET', path: '/v1/videos/:id/receipt', action: 'receipt' },
];

/** In a few words, for the OpenAPI document. */
export const videoSummaries: Readonly<Record<VideoAction, string>> = {
  create: 'Has a video made, from words, from pictures or from another video',
  'create-by-content':
    "The same in OpenAI's form, or in that of /v1/video/generations where the body has duration, image, images or metadata",
  'xai-generate': "Has a video made, in xAI's form",
  'xai-edit': "Has a video changed, in xAI's form",
  'xai-extend': "Has a video lengthened, in xAI's form",
  remix: "Has one of the caller's videos changed",
  list: "The caller's videos",
  models: 'The models that make videos: modes, durations, resolutions, ratios and prices',
  show: 'How a video stands',
  delete: 'Deletes a video that is completed or has failed, and its file',
  content: 'The file of a completed video; ranges, HEAD and conditions as in RFC 9110',
  events: 'How a video stands, as server-sent events until it is over',
  receipt: 'What was held for a video and what was charged, line by line',
};

/** Whether an action makes a video, so that it is followed as a call. */
export function makesVideo(action: VideoAction): boolean {
  return action.startsWith('create') || action.startsWith('xai-') || action === 'remix';
}
