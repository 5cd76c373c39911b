/** Formats of synthesised speech, with the media type under which each is sent where the upstream names none. */
export const speechContentTypes = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  /** Signed 16-bit little-endian samples of one channel at 24 kHz, without a header. */
  pcm: 'audio/pcm',
} as const;

export type SpeechFormat = keyof typeof speechContentTypes;

export const speechFormats = Object.keys(speechContentTypes) as readonly SpeechFormat[];

/** Forms of a transcript that the contract names. */
export const documentedTranscriptFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;

/** Those and the vendor's newer one, which says who speaks. */
export const transcriptFormats = [...documentedTranscriptFormats, 'diarized_json'] as const;

export type TranscriptFormat = (typeof transcriptFormats)[number];

/**
 * The media type of each form. Subtitles are plain text with the vendor: its SDKs parse whatever is called JSON, and look at nothing else.
 */
export const transcriptContentTypes: Readonly<Record<TranscriptFormat, string>> = {
  json: 'application/json',
  verbose_json: 'application/json',
  diarized_json: 'application/json',
  text: 'text/plain; charset=utf-8',
  srt: 'text/plain; charset=utf-8',
  vtt: 'text/plain; charset=utf-8',
};

/** What is done with sound: read out, written down, or written down in English. */
export type AudioOperation = 'speech' | 'transcriptions' | 'translations';
