import Type from 'typebox';

import { defaultAudioSettings } from '../../gateway/settings/call-settings.ts';

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
          'Most bytes on disk for the audio and image uploads of one process that are in progress. Further uploads are answered with 503.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Speech, transcription and translation.' },
);
