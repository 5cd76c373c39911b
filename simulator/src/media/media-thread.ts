import { parentPort } from 'node:worker_threads';

import type { Transcript } from './audio-transcript.ts';
import { hearRecording } from './hear-recording.ts';
import { readVideo, type VideoFacts } from './read-video.ts';

/** An untrusted file, and the kind of reader for it. */
export type MediaOrder = { readonly wanted: 'transcript' | 'video'; readonly bytes: Uint8Array<ArrayBuffer> };
export type MediaFacts = Transcript | VideoFacts | undefined;
/** The thread reports once that it has loaded its readers, and then the result of each file. */
export type MediaReport = 'ready' | { readonly facts: MediaFacts };

/** The thread that reads untrusted files: a broken one may make its reader loop forever. */
parentPort?.on('message', ({ wanted, bytes }: MediaOrder) => {
  const reading: Promise<MediaFacts> = wanted === 'transcript' ? hearRecording(bytes) : readVideo(bytes);
  void reading.then((facts) => parentPort?.postMessage({ facts } satisfies MediaReport));
});

parentPort?.postMessage('ready' satisfies MediaReport);
