import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { transcriptOf, type Transcript } from './audio-transcript.ts';

/**
 * Transcribes a recording: the transcript of simulated speech is in its comment; the text for any other says that its
 * transcription is simulated, with its real duration. Undefined if the bytes are not a readable recording.
 */
export async function hearRecording(bytes: Uint8Array<ArrayBuffer>): Promise<Transcript | undefined> {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryAudioTrack();
    if (track === null) return undefined;
    const durationMs = (await track.computeDuration()) * 1000;
    const tags = await input.getMetadataTags();
    return transcriptOf(tags.comment, durationMs);
  } catch {
    // Any error of the reader means that these bytes are not a recording.
    return undefined;
  } finally {
    input.dispose();
  }
}
