import { readAudioForm } from '../../simulator/src/media/audio-form.ts';
import { hearForeignRecording, readForeignVideo } from '../../simulator/src/media/read-in-thread.ts';
import { readImage } from '../../simulator/src/media/read-image.ts';
import { sampleSchema } from '../../simulator/src/sample-schema.ts';
import type { JsonRecord } from '../../simulator/src/simulated-vendor.ts';
import type { Outcome, Parser } from './parser.ts';
import { mutateJson } from './mutate-json.ts';
import { formType, type SeedKind } from './seed-files.ts';

/**
 * The parsers of client bytes in the simulator: recordings and videos in threads, the rest on its event loop, which
 * `npm start` shares with the gateway.
 */
export function openSimulatedReaders(limitMs: number): Readonly<Record<string, Parser>> {
  const recording = (seeds: SeedKind): Parser => ({ seeds, parse: async (bytes) => told(await hearForeignRecording(bytes, limitMs)) });
  return {
    'simulated-recording-flac': recording('flac'),
    'simulated-recording-mp3': recording('mp3'),
    'simulated-recording-wav': recording('wav'),
    'simulated-recording-ogg': recording('ogg'),
    'simulated-recording-webm': recording('webm'),
    'simulated-recording-mp4': recording('mp4'),
    'simulated-video': { seeds: 'video', parse: async (bytes) => told(await readForeignVideo(bytes, limitMs)) },
    'simulated-image': onLoop('image', (bytes) => readImage(bytes)),
    'simulated-form': onLoop('form', async (bytes) => await readAudioForm(formType, bytes)),
    'simulated-schema': {
      ...onLoop('schema', (bytes) => sampleSchema(JSON.parse(bytes.toString()) as JsonRecord, 'seed')),
      mutate: mutateJson,
    },
  };
}

/** The simulator does not distinguish a limit from a broken file: both are unusable. */
const told = (facts: unknown): Outcome => (facts === undefined ? 'refused' : 'read');

/** Yields to the event loop after each file, so that the time of each is measured separately. */
function onLoop(seeds: SeedKind, read: (bytes: Buffer) => unknown): Parser {
  return {
    seeds,
    parse: async (bytes) => {
      const facts = await read(bytes);
      await new Promise((resolve) => setImmediate(resolve));
      return told(facts);
    },
  };
}
