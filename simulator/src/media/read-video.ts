import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';

export type VideoFacts = { readonly seconds: number; readonly width: number; readonly height: number };

/**
 * Reads length and size of a video file; undefined for any other file. Sizes are the displayed ones: rotated and with
 * square pixels.
 */
export async function readVideo(bytes: Uint8Array): Promise<VideoFacts | undefined> {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) return undefined;
    const [seconds, width, height] = await Promise.all([input.computeDuration(), track.getDisplayWidth(), track.getDisplayHeight()]);
    return seconds > 0 && width > 0 && height > 0 ? { seconds, width, height } : undefined;
  } catch {
    // Any error of a media reader means that the video is unusable.
    return undefined;
  } finally {
    input.dispose();
  }
}
