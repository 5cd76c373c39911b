import {
  type AudioOperation,
  documentedTranscriptFormats,
  speechContentTypes,
  speechFormats,
} from '../../dialects/openai-audio/audio-formats.ts';

const carriers = [{ bearer: [] }, { apiKeyHeader: [] }, { googleKeyHeader: [] }, { keyQuery: [] }];
const errorStatuses = [400, 401, 404, 413, 415, 429, 500, 502, 503, 504];

const speechSchema = {
  type: 'object',
  required: ['model', 'input', 'voice'],
  properties: {
    model: { type: 'string' },
    input: { type: 'string', minLength: 1, maxLength: 4096 },
    voice: { anyOf: [{ type: 'string' }, { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }] },
    response_format: { type: 'string', enum: speechFormats, default: 'mp3' },
    speed: { type: 'number', minimum: 0.25, maximum: 4, default: 1 },
    instructions: { type: 'string', maxLength: 4096 },
    stream_format: { type: 'string', enum: ['audio', 'sse'], default: 'audio' },
  },
};

const commonFields = {
  file: { type: 'string', format: 'binary', description: 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, with a filename.' },
  model: { type: 'string' },
  prompt: { type: 'string' },
  response_format: { type: 'string', enum: documentedTranscriptFormats, default: 'json' },
  temperature: { type: 'number', minimum: 0, maximum: 1, default: 0 },
};

const transcriptionFields = {
  ...commonFields,
  language: { type: 'string', description: 'ISO-639-1 code of the language that is spoken.' },
  'timestamp_granularities[]': { type: 'array', items: { type: 'string', enum: ['word', 'segment'] }, default: ['segment'] },
  stream: { type: 'boolean', default: false },
};

const form = (properties: object): object => ({
  'multipart/form-data': { schema: { type: 'object', required: ['file', 'model'], properties } },
});

const transcript = { 'application/json': {}, 'text/plain': {} };

const operations: Readonly<Record<AudioOperation, { readonly summary: string; readonly asked: object; readonly answered: object }>> = {
  speech: {
    summary: 'Read a text out',
    asked: { 'application/json': { schema: speechSchema } },
    answered: { ...Object.fromEntries(Object.values(speechContentTypes).map((type) => [type, {}])), 'text/event-stream': {} },
  },
  transcriptions: {
    summary: 'Write down what is said',
    asked: form(transcriptionFields),
    answered: { ...transcript, 'text/event-stream': {} },
  },
  translations: { summary: 'Write down what is said, in English', asked: form(commonFields), answered: transcript },
};

/** Describes a route of the audio interface for OpenAPI. */
export function audioOperation(operation: AudioOperation): object {
  const { summary, asked, answered } = operations[operation];
  const refusal = { description: 'See docs/reference/errors.md. Body `{error: {message, type, param, code}}`, all strings.' };
  return {
    summary,
    security: carriers,
    requestBody: { required: true, content: asked },
    responses: {
      200: { description: 'The sound, or what was said in it.', content: answered },
      ...Object.fromEntries(errorStatuses.map((status) => [status, refusal])),
    },
  };
}
