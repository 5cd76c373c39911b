/** What an operator sets for pictures. */
export type PictureSettings = {
  /** For how many hours the link to a picture works, and its file is kept. */
  readonly linkHours: number;
  /** The most bytes of one file that is uploaded to be edited. */
  readonly uploadBytesMax: number;
};

/** 50 MB a file, as the vendor has it. */
export const defaultPictureSettings: PictureSettings = { linkHours: 24, uploadBytesMax: 52_428_800 };
