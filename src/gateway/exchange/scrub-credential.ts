const redaction = '[redacted]';

/** Shorter keys would be found in innocent text. */
const keyCharactersMin = 8;

/** A vendor that quotes the credential it received must not show the operator's key to a client. */
export function scrubText(text: string, apiKey: string | undefined): string {
  if (apiKey === undefined || apiKey.length < keyCharactersMin) return text;
  return text.includes(apiKey) ? text.replaceAll(apiKey, redaction) : text;
}

/** The same for bytes; they stay the same buffer where there is nothing to hide. */
export function scrubBytes(bytes: Buffer, apiKey: string | undefined): Buffer {
  if (apiKey === undefined || apiKey.length < keyCharactersMin || !bytes.includes(apiKey)) return bytes;
  return Buffer.from(bytes.toString().replaceAll(apiKey, redaction));
}
