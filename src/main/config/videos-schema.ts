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
          'Days for which a finished video is listed to its user. A video whose file is kept longer is listed for as long. Its charges stay in the books.',
      }),
    ),
    userBytesMax: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1024 ** 5,
        default: defaultVideoSettings.userBytesMax,
        description:
          'Most bytes of all files of one user. When they are used up, no further videos are made until some are deleted or expire.',
      }),
    ),
    fileBytesMax: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 64 * gibibyte,
        default: defaultVideoSettings.fileBytesMax,
        description: 'Largest file of a video, in bytes. A larger file is not stored, and its video gets an alert.',
      }),
    ),
    deadlineMinutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_080,
        default: defaultVideoSettings.deadlineMinutes,
        description: 'Age at which an unfinished video gets an alert. Its generation continues.',
      }),
    ),
    giveUpHours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 720,
        default: defaultVideoSettings.giveUpHours,
        description: 'Age at which an unfinished video is abandoned. It fails with upstream_timeout, and nothing is charged.',
      }),
    ),
    signedLinks: Type.Optional(
      Type.Boolean({
        default: defaultVideoSettings.signedLinks,
        description:
          "Whether finished videos have a link that opens the file without a key for a day. In xAI's interface they always do. Otherwise the address requires a key of the owner.",
      }),
    ),
    publicUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#]+/?$',
        description:
          'Scheme and host of the addresses of files that the gateway sends to clients. Default: the scheme and host of the request; a trusted proxy may give them in its headers.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Videos and their files.' },
);
