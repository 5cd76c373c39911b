import { type AudioOperation, speechContentTypes } from '../../../../dialects/openai-audio/audio-formats.ts';
import { bytes, carriers, content, ref, refusals, text } from '../../shared/open-api-parts.ts';

const errors = [400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503, 504];

/** Opus is under either name, as its upstream has it. */
const soundTypes = [...Object.values(speechContentTypes), 'audio/opus'];
const sound = Object.fromEntries(soundTypes.map((type) => [type, { schema: bytes }]));
const transcript = {
  ...content('application/json', { anyOf: [ref('Transcript'), ref('VerboseTranscript')] }),
  ...content('text/plain', text('The text alone, SubRip or WebVTT.')),
};
const eventsOf = (name: string): object => ({ 'text/event-stream': { schema: text('Server-sent events.'), 'x-event-data': ref(name) } });

const operations: Readonly<Record<AudioOperation, { readonly summary: string; readonly asked: object; readonly answered: object }>> = {
  speech: {
    summary: 'Read a text out',
    asked: content('application/json', ref('SpeechRequest')),
    answered: { ...sound, ...eventsOf('SpeechEvent') },
  },
  transcriptions: {
    summary: 'Write down what is said',
    asked: content('multipart/form-data', ref('TranscriptionForm')),
    answered: { ...transcript, ...eventsOf('TranscriptEvent') },
  },
  translations: {
    summary: 'Write down what is said, in English',
    asked: content('multipart/form-data', ref('TranslationForm')),
    answered: transcript,
  },
};

/** Describes a route of the audio interface for OpenAPI. */
export function audioOperation(operation: AudioOperation): object {
  const { summary, asked, answered } = operations[operation];
  return {
    summary,
    security: carriers,
    requestBody: { required: true, content: asked },
    responses: { 200: { description: 'The sound, or what was said in it.', content: answered }, ...refusals(errors, 'AudioProblem') },
  };
}
