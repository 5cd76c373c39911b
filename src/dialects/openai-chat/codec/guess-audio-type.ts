const beginnings: readonly (readonly [beginning: string, mediaType: string])[] = [
  ['UklGR', 'audio/wav'],
  ['T2dnUw', 'audio/ogg'],
  ['ZkxhQ', 'audio/flac'],
  ['SUQz', 'audio/mpeg'],
  ['//', 'audio/mpeg'],
];

/**
 * The type of a recording by the beginning of its base64, because replies do not state it. Audio without a header is
 * raw samples.
 */
export function guessAudioType(data: string): string {
  return beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? 'audio/pcm';
}
