const beginnings: readonly (readonly [beginning: string, mediaType: string])[] = [
  ['UklGR', 'audio/wav'],
  ['T2dnUw', 'audio/ogg'],
  ['ZkxhQ', 'audio/flac'],
  ['SUQz', 'audio/mpeg'],
  ['//', 'audio/mpeg'],
];

/** The type of a sound by how its base64 begins: replies do not say it. Sound without a head is raw samples. */
export function guessAudioType(data: string): string {
  return beginnings.find(([beginning]) => data.startsWith(beginning))?.[1] ?? 'audio/pcm';
}
