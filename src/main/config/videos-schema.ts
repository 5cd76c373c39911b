import Type from 'typebox';

import { defaultVideoSettings } from '../../gateway/settings/call-settings.ts';

const gibibyte = 1024 ** 3;

/** `videos` of weir.yaml. */
export const videosSchema = Type.Object(
  {
    retentionDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 36_500,
        default: defaultVideoSettings.retentionDays,
        description: 'Days for which the file of a finished video is kept.',
      }),
    ),
    taskRetentionDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 36_500,
        default: defaultVideoSettings.taskRetentionDays,
        description:
          'Days after its end for which a video is shown to its user. One whose file is kept longer is shown as long as that. What was charged for it stays in the books.',
      }),
    ),
    userBytesMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1024 ** 5,
        default: defaultVideoSettings.userBytesMax,
        description:
          'Bytes that the files of one user may have together. Beyond them no further videos are made until some are deleted or expire.',
      }),
    ),
    fileBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 64 * gibibyte,
        default: defaultVideoSettings.fileBytesMax,
        description: 'Largest file of a video, in bytes. A larger one is not kept, and its video has an alert.',
      }),
    ),
    deadlineMinutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_080,
        default: defaultVideoSettings.deadlineMinutes,
        description: 'Age at which a video that is not finished gets an alert. It goes on all the same.',
      }),
    ),
    giveUpHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 720,
        default: defaultVideoSettings.giveUpHours,
        description: 'Age at which a video that is not finished is given up: it fails as upstream_timeout and nothing is charged.',
      }),
    ),
    signedLinks: Type.Optional(
      Type.Boolean({
        default: defaultVideoSettings.signedLinks,
        description:
          "Whether every finished video is told with a link that opens its file without a key for a day, as it always is in xAI's interface. Otherwise the address asks for a key of its owner.",
      }),
    ),
    publicUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#]+/?$',
        description:
          'Scheme and host at which clients reach the gateway, for the addresses of files that it hands out. Default: those that the request came to, by the word of trusted proxies where it came through one.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Videos and their files.' },
);
