/** The actions of the routes. */
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

/** Summaries for the OpenAPI document. */
export const videoSummaries: Readonly<Record<VideoAction, string>> = {
  create: 'Make a video from text, images or another video',
  'create-by-content': "The same in OpenAI's form, or in that of /v1/video/generations if the body has duration, image, images or metadata",
  'xai-generate': 'Make a video (xAI)',
  'xai-edit': 'Edit a video (xAI)',
  'xai-extend': 'Extend a video (xAI)',
  remix: "Edit one of the caller's videos",
  list: "The caller's videos",
  models: 'The video models with modes, durations, resolutions, aspect ratios and prices',
  show: 'How a video stands',
  delete: 'Delete a completed or failed video and its file',
  content: 'The file of a completed video; ranges, HEAD and conditions of RFC 9110',
  events: 'The state of a video, as server-sent events until its end',
  receipt: 'The hold and the charge of a video, line by line',
};

/** Whether an action makes a video, so that it is a call. */
export function makesVideo(action: VideoAction): boolean {
  return action.startsWith('create') || action.startsWith('xai-') || action === 'remix';
}
