/** What an operator sets for videos. */
export type VideoSettings = {
  /** For how many days a finished file is kept. */
  readonly retentionDays: number;
  /** For how many days after its end a video is remembered that has no file any more. */
  readonly taskRetentionDays: number;
  /** Bytes that the files of one user may have together. */
  readonly userBytesMax: number;
  readonly fileBytesMax: number;
  /** Age at which an unfinished video gets an alert, and at which it is given up. */
  readonly deadlineMinutes: number;
  readonly giveUpHours: number;
  /** Whether finished videos are told with links that work without a key also to clients of other interfaces than xAI's. */
  readonly signedLinks: boolean;
  /** Where clients reach the gateway, for addresses that it hands out. Absent: where the request reached it. */
  readonly publicUrl?: string;
};

const gibibyte = 1024 ** 3;

export const defaultVideoSettings: VideoSettings = {
  retentionDays: 30,
  taskRetentionDays: 90,
  userBytesMax: 50 * gibibyte,
  fileBytesMax: 8 * gibibyte,
  deadlineMinutes: 60,
  giveUpHours: 24,
  signedLinks: false,
};
