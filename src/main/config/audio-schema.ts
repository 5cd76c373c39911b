import Type from 'typebox';

import { transcriptFormats } from '../../dialects/openai-audio/audio-formats.ts';
import { defaultAudioSettings } from '../../gateway/settings/audio-settings.ts';

const path = (what: string) =>
  Type.Optional(Type.String({ pattern: '^(/[!-~]*)?$', description: `Where ${what}, below the base address. Empty: nowhere.` }));

/** `audio` of an upstream's quirks. */
export const audioQuirksSchema = Type.Optional(
  Type.Object(
    {
      speech: path('speech is made'),
      transcriptions: path('speech is transcribed'),
      translations: path('speech is translated'),
      transcriptFormats: Type.Optional(
        Type.Array(Type.Enum([...transcriptFormats]), {
          minItems: 1,
          uniqueItems: true,
          description: 'The response formats that it writes itself. Others are written from verbose_json. Default: all.',
        }),
      ),
      modelField: Type.Optional(Type.Boolean({ description: 'Whether it is told the model. Default: true.' })),
      translateField: Type.Optional(
        Type.String({ minLength: 1, description: 'The form field that makes it translate, where both are at one path.' }),
      ),
    },
    { additionalProperties: false, description: 'Where its audio interface departs from the usual one.' },
  ),
);

/** `audio` of weir.yaml. */
export const audioSchema = Type.Object(
  {
    uploadBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1_073_741_824,
        default: defaultAudioSettings.uploadBytesMax,
        description: 'Largest file that is transcribed or translated, in bytes.',
      }),
    ),
    spoolBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1_048_576,
        maximum: 1_099_511_627_776,
        default: defaultAudioSettings.spoolBytesMax,
        description:
          'Room on the disk for all uploads that are under way, in bytes and for each process. When it is full, further ones are answered 503.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Speech, transcription and translation.' },
);
