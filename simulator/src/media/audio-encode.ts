import { registerAacEncoder } from '@mediabunny/aac-encoder';
import { registerMp3Encoder } from '@mediabunny/mp3-encoder';
import { AdtsOutputFormat, AudioSample, AudioSampleSource, BufferTarget, Mp3OutputFormat, Output } from 'mediabunny';
import { writeFlac } from './audio-flac.ts';
import { writeOpus } from './audio-opus.ts';
import { sampleRate, toBytes } from './audio-pcm.ts';
import { writeWav } from './audio-wav.ts';

export const audioFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;

export type AudioFormat = (typeof audioFormats)[number];

const bitsPerSecond = 64_000;
const samplesPerPart = 24_000;

/**
 * Writes samples in a format, with a comment if the format supports one (raw PCM does not). The encoders are compiled
 * into the packages, so that no program need be installed; those of MP3 and AAC run in a thread of their own. The same
 * samples and comment give the same bytes. `isStreamed` writes the head of a WAVE file like a service that does not
 * know its length yet.
 */
export async function encodeAudio(samples: Int16Array, format: AudioFormat, comment: string, isStreamed = false): Promise<Buffer> {
  switch (format) {
    case 'pcm':
      return toBytes(samples);
    case 'wav':
      return writeWav(samples, comment, isStreamed);
    case 'flac':
      return await writeFlac(samples, comment);
    case 'opus':
      return await writeOpus(samples, comment);
    case 'mp3':
    case 'aac':
      return await encodeInThread(samples, format, comment);
  }
}

async function encodeInThread(samples: Int16Array, codec: 'mp3' | 'aac', comment: string): Promise<Buffer> {
  registerMp3Encoder();
  registerAacEncoder();
  const target = new BufferTarget();
  const output = new Output({ format: codec === 'mp3' ? new Mp3OutputFormat() : new AdtsOutputFormat(), target });
  output.setMetadataTags({ title: 'Simulated speech', comment });
  const source = new AudioSampleSource({ codec, bitrate: bitsPerSecond });
  output.addAudioTrack(source);
  try {
    await output.start();
    for (let start = 0; start < samples.length; start += samplesPerPart) {
      const data = samples.slice(start, start + samplesPerPart);
      const sample = new AudioSample({ data, format: 's16', numberOfChannels: 1, sampleRate, timestamp: start / sampleRate });
      await source.add(sample);
      sample.close();
    }
    await output.finalize();
  } catch (error) {
    // Ends the thread too.
    await output.cancel();
    throw error;
  }
  return Buffer.from(target.buffer ?? new ArrayBuffer(0));
}
