/** Bounds of uploaded sound. */
export type AudioSettings = {
  /** The most bytes of one file. */
  readonly uploadBytesMax: number;
  /** The most bytes on the disk of all files that are under way. */
  readonly spoolBytesMax: number;
};

/** As the vendor has it: 25 MiB for a file. */
export const defaultAudioSettings: AudioSettings = { uploadBytesMax: 26_214_400, spoolBytesMax: 8_589_934_592 };
