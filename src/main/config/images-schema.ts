import Type from 'typebox';

import { defaultImageEndpointSettings } from '../../gateway/settings/call-settings.ts';

/** `images` of weir.yaml. */
export const imagesSchema = Type.Object(
  {
    linkHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 876_000,
        default: defaultImageEndpointSettings.linkHours,
        description:
          'Hours for which the link to an image is valid, if a client requests response_format: url and the model returns bytes. Afterwards the file is deleted. These files count towards videos.userBytesMax of their user.',
      }),
    ),
    uploadBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1_073_741_824,
        default: defaultImageEndpointSettings.uploadBytesMax,
        description: 'Largest image that is uploaded for an edit, in bytes. Uploads also count towards audio.spoolBytesMax.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Images.' },
);
