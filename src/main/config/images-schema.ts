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
          'Hours for which the link to a picture works that was asked for with response_format: url of a model that gives bytes. Then its file is deleted. They count among the files of their user (videos.userBytesMax).',
      }),
    ),
    uploadBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1_073_741_824,
        default: defaultImageEndpointSettings.uploadBytesMax,
        description: 'Largest picture of a form that is edited, in bytes. Uploads share the room of audio.spoolBytesMax.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Pictures.' },
);
