import { parentPort } from 'node:worker_threads';

import { hearRecording, type Transcript } from './audio-transcript.ts';
import { readVideo, type VideoFacts } from './read-video.ts';

/** A file that somebody sent, and what is wanted of it. */
export type MediaOrder = { readonly wanted: 'transcript' | 'video'; readonly bytes: Uint8Array<ArrayBuffer> };
export type MediaFacts = Transcript | VideoFacts | undefined;
/** The thread says once that it has loaded its readers, and then of each file what it is. */
export type MediaReport = 'ready' | { readonly facts: MediaFacts };

/** The thread in which files of strangers are read: a broken one may make its reader loop for ever. */
parentPort?.on('message', ({ wanted, bytes }: MediaOrder) => {
  const reading: Promise<MediaFacts> = wanted === 'transcript' ? hearRecording(bytes) : readVideo(bytes);
  void reading.then((facts) => parentPort?.postMessage({ facts } satisfies MediaReport));
});

parentPort?.postMessage('ready' satisfies MediaReport);
