/** The headers in which services take a key. `authorization` has it as a bearer token. */
export type KeyHeader = 'authorization' | 'x-api-key' | 'x-goog-api-key' | 'api-key';

/** The header with a key. */
export function writeKey(header: KeyHeader, apiKey: string): Readonly<Record<string, string>> {
  return { [header]: header === 'authorization' ? `Bearer ${apiKey}` : apiKey };
}
