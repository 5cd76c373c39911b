/** A size in pixels, with its equivalent for interfaces that use lines and ratios. */
export type FrameSize = { readonly size: string; readonly resolution: string; readonly aspectRatio: string };

/**
 * Of equivalent sizes, the first is written. Sources: OpenAI's `VideoSize`, xAI's sizes, and the sizes that clients
 * send for 480p.
 */
const frameSizes: readonly FrameSize[] = [
  { size: '1280x720', resolution: '720p', aspectRatio: '16:9' },
  { size: '720x1280', resolution: '720p', aspectRatio: '9:16' },
  { size: '720x720', resolution: '720p', aspectRatio: '1:1' },
  { size: '960x720', resolution: '720p', aspectRatio: '4:3' },
  { size: '720x960', resolution: '720p', aspectRatio: '3:4' },
  { size: '1080x720', resolution: '720p', aspectRatio: '3:2' },
  { size: '720x1080', resolution: '720p', aspectRatio: '2:3' },
  { size: '854x480', resolution: '480p', aspectRatio: '16:9' },
  { size: '848x480', resolution: '480p', aspectRatio: '16:9' },
  { size: '480x854', resolution: '480p', aspectRatio: '9:16' },
  { size: '480x848', resolution: '480p', aspectRatio: '9:16' },
  { size: '480x480', resolution: '480p', aspectRatio: '1:1' },
  { size: '640x480', resolution: '480p', aspectRatio: '4:3' },
  { size: '480x640', resolution: '480p', aspectRatio: '3:4' },
  { size: '720x480', resolution: '480p', aspectRatio: '3:2' },
  { size: '480x720', resolution: '480p', aspectRatio: '2:3' },
  { size: '1920x1080', resolution: '1080p', aspectRatio: '16:9' },
  { size: '1080x1920', resolution: '1080p', aspectRatio: '9:16' },
  { size: '1080x1080', resolution: '1080p', aspectRatio: '1:1' },
  { size: '1440x1080', resolution: '1080p', aspectRatio: '4:3' },
  { size: '1080x1440', resolution: '1080p', aspectRatio: '3:4' },
  { size: '1620x1080', resolution: '1080p', aspectRatio: '3:2' },
  { size: '1080x1620', resolution: '1080p', aspectRatio: '2:3' },
  { size: '1792x1024', resolution: '1024p', aspectRatio: '7:4' },
  { size: '1024x1792', resolution: '1024p', aspectRatio: '4:7' },
];

export const sizes: readonly string[] = frameSizes.map(({ size }) => size);

/** Finds a size. Undefined for sizes that no vendor makes. */
export const frameSizeOf = (size: string): FrameSize | undefined => frameSizes.find((frame) => frame.size === size);

/** Finds the size with this number of lines and this ratio, if there is one. */
export const sizeOf = (resolution: string | undefined, aspectRatio: string | undefined): string | undefined =>
  frameSizes.find((frame) => frame.resolution === resolution && frame.aspectRatio === aspectRatio)?.size;

/** The ratios of the contract (A 2.2). */
export const documentedRatios: readonly string[] = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'];
/** The resolutions of the contract (A 2.2). */
export const documentedResolutions: readonly string[] = ['480p', '720p'];
/** The ratios of all vendors. */
export const knownRatios: readonly string[] = [...documentedRatios, '7:4', '4:7'];
export const knownResolutions: readonly string[] = [...documentedResolutions, '1024p', '1080p'];
