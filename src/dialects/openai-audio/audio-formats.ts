/** Formats of synthesised speech, with the media type of each if the upstream sends none. */
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

/** Transcript formats that the contract names. */
export const documentedTranscriptFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;

/** The contract's formats and the vendor's newer one, which distinguishes speakers. */
export const transcriptFormats = [...documentedTranscriptFormats, 'diarized_json'] as const;

export type TranscriptFormat = (typeof transcriptFormats)[number];

/**
 * The media type of each format. The vendor sends subtitles as plain text: its SDKs parse JSON types and no others.
 */
export const transcriptContentTypes: Readonly<Record<TranscriptFormat, string>> = {
  json: 'application/json',
  verbose_json: 'application/json',
  diarized_json: 'application/json',
  text: 'text/plain; charset=utf-8',
  srt: 'text/plain; charset=utf-8',
  vtt: 'text/plain; charset=utf-8',
};

/** Speech from text, text from speech, or English text from speech. */
export type AudioOperation = 'speech' | 'transcriptions' | 'translations';
