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
          'Room on the disk for all uploads that are under way, of sound and of pictures, in bytes and for each process. When it is full, further ones are answered 503.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Speech, transcription and translation.' },
);
