import { type AudioOperation, speechContentTypes } from '../../../../dialects/openai-audio/audio-formats.ts';
import { bytes, carriers, content, ref, refusals, text } from '../../shared/open-api-parts.ts';

const errors = [400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503, 504];

/** Opus has either name, depending on the upstream. */
const soundTypes = [...Object.values(speechContentTypes), 'audio/opus'];
const sound = Object.fromEntries(soundTypes.map((type) => [type, { schema: bytes }]));
const transcript = {
  ...content('application/json', { anyOf: [ref('Transcript'), ref('VerboseTranscript')] }),
  ...content('text/plain', text('Plain text, SubRip or WebVTT.')),
};
const eventsOf = (name: string): object => ({ 'text/event-stream': { schema: text('Server-sent events.'), 'x-event-data': ref(name) } });

const operations: Readonly<Record<AudioOperation, { readonly summary: string; readonly body: object; readonly reply: object }>> = {
  speech: {
    summary: 'Read a text out',
    body: content('application/json', ref('SpeechRequest')),
    reply: { ...sound, ...eventsOf('SpeechEvent') },
  },
  transcriptions: {
    summary: 'Transcribe speech',
    body: content('multipart/form-data', ref('TranscriptionForm')),
    reply: { ...transcript, ...eventsOf('TranscriptEvent') },
  },
  translations: {
    summary: 'Translate speech into English',
    body: content('multipart/form-data', ref('TranslationForm')),
    reply: transcript,
  },
};

/** Describes a route of the audio interface for OpenAPI. */
export function audioOperation(operation: AudioOperation): object {
  const { summary, body, reply } = operations[operation];
  return {
    summary,
    security: carriers,
    requestBody: { required: true, content: body },
    responses: { 200: { description: 'The audio or the transcript.', content: reply }, ...refusals(errors, 'AudioProblem') },
  };
}
