import { documentedTranscriptFormats, speechFormats } from '../../../../dialects/openai-audio/audio-formats.ts';
import { bytes, count, object, ref, type Schema, type Schemas, text } from '../../shared/open-api-parts.ts';

const seconds = (description: string): Schema => ({ type: 'number', minimum: 0, description: `${description} Seconds.` });

const speechRequest = object(
  {
    model: text('Source: contract A 4.4; newer models are taken too.', { examples: ['tts-1', 'tts-1-hd'] }),
    input: text('What is read out. Characters are Unicode code points.', { minLength: 1, maxLength: 4096 }),
    voice: {
      description: 'Each model has its own; the contract names alloy, echo, fable, onyx, nova and shimmer.',
      anyOf: [{ type: 'string', minLength: 1, maxLength: 256 }, object({ id: { type: 'string' } }, ['id'])],
    },
    response_format: text('pcm: signed 16-bit little-endian samples of one channel at 24 kHz.', {
      enum: [...speechFormats],
      default: 'mp3',
    }),
    speed: { type: 'number', minimum: 0.25, maximum: 4, default: 1, description: 'Times the usual speed.' },
    instructions: text('How it is to be read. Not with tts-1.', { maxLength: 4096 }),
    stream_format: text('`sse`: the sound in events. Not with tts-1.', { enum: ['audio', 'sse'], default: 'audio' }),
  },
  ['model', 'input', 'voice'],
);

const formFields: Schemas = {
  file: {
    ...bytes,
    description:
      'flac, mp3, mp4, mpeg, mpga, m4a, oga, ogg, wav or webm, at most 25 MiB unless configured otherwise, in a part with a filename. It has to be what its name and declared type say.',
  },
  model: { type: 'string', examples: ['whisper-1'] },
  prompt: text('Text that guides the style, or continues what came before.'),
  response_format: text('Source: contract A 4.5. What a model does not write itself is written from what it does.', {
    enum: [...documentedTranscriptFormats],
    default: 'json',
  }),
  temperature: { type: 'number', minimum: 0, maximum: 1, default: 0 },
};

const granularities: Schema = {
  type: 'array',
  items: { type: 'string', enum: ['word', 'segment'] },
  default: ['segment'],
  description: 'What times are told for, in verbose_json.',
};

const usage: Schema = {
  description: 'As the upstream counts: seconds, or tokens.',
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
      language: text('Its English name in lower case; of a translation `english`.', { examples: ['english'] }),
      duration: seconds('Of the recording.'),
      text: { type: 'string' },
      segments: { type: 'array', items: ref('TranscriptSegment') },
      words: {
        type: 'array',
        items: object({ word: { type: 'string' }, start: seconds('Begin.'), end: seconds('End.') }, ['word', 'start', 'end']),
      },
      usage,
    },
    ['task', 'language', 'duration', 'text'],
    { description: 'With `segments`, unless only words were asked for, and with `words` where they were. Source: contract A 4.5.' },
  ),
  TranscriptSegment: object(
    {
      id: count('From 0.'),
      seek: count('Where its piece of sound begins, in hundredths of a second.'),
      start: seconds('Begin.'),
      end: seconds('End.'),
      text: { type: 'string' },
      tokens: { type: 'array', items: { type: 'integer' } },
      ...Object.fromEntries(segmentNumbers.map((name) => [name, { type: 'number' }])),
    },
    ['id', 'seek', 'start', 'end', 'text', 'tokens', ...segmentNumbers],
    { description: 'Of the numbers that tell how sure the model is, those that its server does not give are 0.' },
  ),
};

const events: Schemas = {
  SpeechEvent: {
    description: 'The data of an event of `stream_format: sse`.',
    anyOf: [
      object({ type: { const: 'speech.audio.delta' }, audio: text('Base64.') }, ['type', 'audio']),
      object({ type: { const: 'speech.audio.done' }, usage: { type: 'object' } }, ['type']),
      ref('AudioProblem'),
    ],
  },
  TranscriptEvent: {
    description: 'The data of an event of `stream=true`.',
    anyOf: [
      object({ type: { const: 'transcript.text.delta' }, delta: { type: 'string' } }, ['type', 'delta']),
      object({ type: { const: 'transcript.text.segment' }, start: seconds('Begin.'), end: seconds('End.'), text: { type: 'string' } }, [
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
      language: text('ISO-639-1 code of the language that is spoken.'),
      'timestamp_granularities[]': granularities,
      timestamp_granularities: { ...granularities, description: 'The same, as the contract spells it.' },
      stream: { type: 'boolean', default: false, description: 'Events as the text comes, where the model makes them.' },
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
          param: text('The field that is wrong; empty where it is none.'),
          code: text('Never empty.', { minLength: 1 }),
        },
        ['message', 'type', 'param', 'code'],
      ),
    },
    ['error'],
    { description: 'Source: contract A 7. All four are texts.' },
  ),
};
