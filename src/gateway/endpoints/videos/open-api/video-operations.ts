import { type VideoAction, videoSummaries } from '../video-routes.ts';
import { bytes, carriers, content, idempotencyKey, ref, refusals, type Schema, text } from '../../shared/open-api-parts.ts';

const creating = [400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503, 504];
const reading = [401, 403, 404, 500, 503];

const createdHeaders = {
  'x-weir-ignored-fields': { description: 'Ignored fields, if there are any.', schema: { type: 'string' } },
  'retry-after': { description: 'Seconds until the next useful request.', schema: { type: 'integer' } },
};

function created(schema: Schema, statusOfErrors = 'VideoProblem'): object {
  const description = 'The video task is created.';
  return {
    200: { description, headers: createdHeaders, content: content('application/json', schema) },
    ...refusals(creating, statusOfErrors),
  };
}

function creation(request: Schema, schema: Schema, options: { readonly forms?: boolean; readonly problem?: string } = {}): object {
  const form = options.forms === true ? content('multipart/form-data', request) : {};
  return {
    parameters: [idempotencyKey('a repetition gets the same video')],
    requestBody: { required: true, content: { ...content('application/json', request), ...form } },
    responses: created(schema, options.problem),
  };
}

function answer(description: string, schema: Schema, errors: readonly number[] = reading): object {
  return { responses: { 200: { description, content: content('application/json', schema) }, ...refusals(errors, 'VideoProblem') } };
}

const header = (description: string, schema: Schema = { type: 'string' }): object => ({ description, schema });
const cacheHeaders = {
  ETag: header('The hash of the file.'),
  'Cache-Control': header("private: the file is one user's, and no cache on the way may keep it."),
};
const fileHeaders = {
  ...cacheHeaders,
  'Accept-Ranges': header('bytes'),
  'Content-Length': header('Bytes of the answer.', { type: 'integer' }),
  'Content-Disposition': header('inline, with a file name.'),
};
const file = { 'video/*': { schema: bytes } };
const requestHeader = (name: string, description: string): object => ({ name, in: 'header', description, schema: { type: 'string' } });

/** The file; HEAD has the same headers and no body. */
function contentOperation(hasBody: boolean): object {
  const body = hasBody ? { content: file } : {};
  const contentRange = { 'Content-Range': header('The range, and the size of the file.') };
  const notThere = refusals([400, 401, 403, 404, 410, 500, 502, 503], 'VideoProblem');
  const beyond = { ...refusals([416], 'VideoProblem') } as Record<number, object>;
  return {
    parameters: [
      {
        name: 'expires',
        in: 'query',
        description: 'The end of a signed link in Unix seconds. A link needs no key.',
        schema: { type: 'integer' },
      },
      { name: 'signature', in: 'query', description: 'Of a signed link.', schema: { type: 'string' } },
      { name: 'variant', in: 'query', description: 'There is no other.', schema: { type: 'string', enum: ['video'], default: 'video' } },
      requestHeader('Range', 'One range of bytes, such as bytes=0-1023. Several ranges get the whole file.'),
      requestHeader('If-Range', 'An ETag. If the file differs, the whole file is sent.'),
      requestHeader('If-None-Match', 'ETags that the client has.'),
    ],
    responses: {
      200: { description: 'The file.', headers: fileHeaders, ...body },
      206: { description: 'The requested range.', headers: { ...fileHeaders, ...contentRange }, ...body },
      304: { description: 'The client has it.', headers: cacheHeaders },
      416: { ...beyond[416], headers: contentRange },
      ...notThere,
    },
  };
}

const anyVideo: Schema = { anyOf: [ref('Video'), ref('OpenaiVideo'), ref('XaiVideo')] };

const listParameters = [
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
  { name: 'order', in: 'query', description: 'By time of creation.', schema: { type: 'string', enum: ['asc', 'desc'], default: 'desc' } },
  { name: 'after', in: 'query', description: 'The id after which the page begins.', schema: { type: 'string' } },
];

const eventStream = {
  description:
    'An event at once and after each change: `video.queued`, `video.in_progress`, `video.completed` or `video.failed`, with a VideoEvent as data. The last two are the end; a stream that ends without them was interrupted.',
  content: { 'text/event-stream': { schema: text('Server-sent events.'), 'x-event-data': ref('VideoEvent') } },
};

const operations: Readonly<Record<VideoAction, object>> = {
  create: creation(ref('VideoCreation'), ref('Video')),
  'create-by-content': creation(
    { anyOf: [ref('OpenaiVideoCreation'), ref('VideoCreation')] },
    { anyOf: [ref('OpenaiVideo'), ref('Video')] },
    { forms: true },
  ),
  'xai-generate': creation(ref('XaiVideoCreation'), ref('XaiVideoCreated'), { problem: 'XaiVideoProblem' }),
  'xai-edit': creation(ref('XaiVideoEdit'), ref('XaiVideoCreated'), { problem: 'XaiVideoProblem' }),
  'xai-extend': creation(ref('XaiVideoExtension'), ref('XaiVideoCreated'), { problem: 'XaiVideoProblem' }),
  remix: creation(ref('VideoRemix'), ref('OpenaiVideo'), { forms: true }),
  list: { parameters: listParameters, ...answer('A page.', ref('VideoList'), [400, 401, 403, 500, 503]) },
  models: answer('The models.', ref('VideoModels'), [401, 403, 500, 503]),
  show: {
    responses: {
      200: { description: 'How it stands.', content: content('application/json', anyVideo) },
      202: {
        description: "The same, for an open video of xAI's interface.",
        content: content('application/json', ref('XaiVideo')),
      },
      ...refusals(reading, 'VideoProblem'),
    },
  },
  delete: answer('The video and its file are deleted.', ref('VideoDeleted'), [400, ...reading]),
  content: contentOperation(true),
  events: { responses: { 200: eventStream, ...refusals(reading, 'VideoProblem') } },
  receipt: answer('What it costs.', ref('VideoReceipt')),
};

/** Describes a route of videos for OpenAPI. */
export function videoOperation(action: VideoAction): object {
  return { summary: videoSummaries[action], security: action === 'content' ? [...carriers, {}] : carriers, ...operations[action] };
}

/** HEAD of the file. */
export function videoHeadOperation(): object {
  return { summary: 'The headers of the file of a completed video', security: [...carriers, {}], ...contentOperation(false) };
}
