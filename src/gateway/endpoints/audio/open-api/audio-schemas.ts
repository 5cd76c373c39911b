import { documentedTranscriptFormats, speechFormats } from '../../../../dialects/openai-audio/audio-formats.ts';
import { bytes, count, object, ref, type Schema, type Schemas, text } from '../../shared/open-api-parts.ts';

const seconds = (description: string): Schema => ({ type: 'number', minimum: 0, description: `${description} Seconds.` });

const speechRequest = object(
  {
    model: text('Source: contract A 4.4; newer models are accepted too.', { examples: ['tts-1', 'tts-1-hd'] }),
    input: text('The text. Characters are Unicode code points.', { minLength: 1, maxLength: 4096 }),
    voice: {
      description: 'Models have different voices; the contract names alloy, echo, fable, onyx, nova and shimmer.',
      anyOf: [{ type: 'string', minLength: 1, maxLength: 256 }, object({ id: { type: 'string' } }, ['id'])],
    },
    response_format: text('pcm: signed 16-bit little-endian samples of one channel at 24 kHz.', {
      enum: [...speechFormats],
      default: 'mp3',
    }),
    speed: { type: 'number', minimum: 0.25, maximum: 4, default: 1, description: 'Times the usual speed.' },
    instructions: text('Style of the speech. Not supported by tts-1.', { maxLength: 4096 }),
    stream_format: text('`sse`: the sound in events. Not with tts-1.', { enum: ['audio', 'sse'], default: 'audio' }),
  },
  ['model', 'input', 'voice'],
);

const formFields: Schemas = {
  file: {
    ...bytes,
    description:
      'flac, mp3, mp4, mpeg, mpga, m4a, oga, ogg, wav or webm, at most 25 MiB unless configured otherwise, in a part with a filename. Its content must match its name and declared type.',
  },
  model: { type: 'string', examples: ['whisper-1'] },
  prompt: text('Text that guides the style, or the preceding transcript.'),
  response_format: text('Source: contract A 4.5. Formats that a model does not support are written from those that it supports.', {
    enum: [...documentedTranscriptFormats],
    default: 'json',
  }),
  temperature: { type: 'number', minimum: 0, maximum: 1, default: 0 },
};

const granularities: Schema = {
  type: 'array',
  items: { type: 'string', enum: ['word', 'segment'] },
  default: ['segment'],
  description: 'The units that get times, in verbose_json.',
};

const usage: Schema = {
  description: 'Seconds or tokens, as the upstream counts.',
  anyOf: [
    object({ type: { const: 'duration' }, seconds: seconds('Rounded up.') }, ['type', 'seconds']),
    object({ type: { const: 'tokens' }, input_tokens: count('Tokens.'), output_tokens: count('Tokens.') }, [
      'input_tokens',
      'output_tokens',
    ]),
  ],
};

const segmentNumbers = ['temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob'];

const transcripts: Schemas = {
  Transcript: object({ text: { type: 'string' }, usage }, ['text']),
  VerboseTranscript: object(
    {
      task: { type: 'string', enum: ['transcribe', 'translate'] },
      language: text('The English name of the language in lower case; `english` for a translation.', { examples: ['english'] }),
      duration: seconds('Of the recording.'),
      text: { type: 'string' },
      segments: { type: 'array', items: ref('TranscriptSegment') },
      words: {
        type: 'array',
        items: object({ word: { type: 'string' }, start: seconds('Start.'), end: seconds('End.') }, ['word', 'start', 'end']),
      },
      usage,
    },
    ['task', 'language', 'duration', 'text'],
    { description: 'Has `segments` unless only words were requested, and `words` if they were requested. Source: contract A 4.5.' },
  ),
  TranscriptSegment: object(
    {
      id: count('From 0.'),
      seek: count('Start of its part of the audio, in hundredths of a second.'),
      start: seconds('Start.'),
      end: seconds('End.'),
      text: { type: 'string' },
      tokens: { type: 'array', items: { type: 'integer' } },
      ...Object.fromEntries(segmentNumbers.map((name) => [name, { type: 'number' }])),
    },
    ['id', 'seek', 'start', 'end', 'text', 'tokens', ...segmentNumbers],
    { description: 'Confidence values that the server does not report are 0.' },
  ),
};

const events: Schemas = {
  SpeechEvent: {
    description: 'The data of an event with `stream_format: sse`.',
    anyOf: [
      object({ type: { const: 'speech.audio.delta' }, audio: text('Base64.') }, ['type', 'audio']),
      object({ type: { const: 'speech.audio.done' }, usage: { type: 'object' } }, ['type']),
      ref('AudioProblem'),
    ],
  },
  TranscriptEvent: {
    description: 'The data of an event with `stream=true`.',
    anyOf: [
      object({ type: { const: 'transcript.text.delta' }, delta: { type: 'string' } }, ['type', 'delta']),
      object({ type: { const: 'transcript.text.segment' }, start: seconds('Start.'), end: seconds('End.'), text: { type: 'string' } }, [
        'type',
        'text',
      ]),
      object({ type: { const: 'transcript.text.done' }, text: { type: 'string' }, usage }, ['type', 'text']),
      ref('AudioProblem'),
    ],
  },
};

export const audioSchemas: Schemas = {
  SpeechRequest: speechRequest,
  TranscriptionForm: object(
    {
      ...formFields,
      language: text('ISO-639-1 code of the spoken language.'),
      'timestamp_granularities[]': granularities,
      timestamp_granularities: { ...granularities, description: 'The same, in the spelling of the contract.' },
      stream: { type: 'boolean', default: false, description: 'Events during the transcription, if the model supports them.' },
    },
    ['file', 'model'],
  ),
  TranslationForm: object(formFields, ['file', 'model']),
  ...transcripts,
  ...events,
  AudioProblem: object(
    {
      error: object(
        {
          message: { type: 'string' },
          type: { type: 'string' },
          param: text('The invalid field; empty if there is none.'),
          code: text('Never empty.', { minLength: 1 }),
        },
        ['message', 'type', 'param', 'code'],
      ),
    },
    ['error'],
    { description: 'Source: contract A 7. All four members are strings.' },
  ),
};
