export type JsonProblemKind = 'syntax' | 'encoding' | 'depth' | 'tokens' | 'duplicate-key' | 'incomplete';

/** Why a JSON text was refused, and where. The message is meant for the sender: it quotes at most one character, or the key at fault. */
export class JsonProblemError extends Error {
  readonly kind: JsonProblemKind;
  /** Bytes from the beginning of the text. */
  readonly offset: number;
  /** Counted from 1, by line feeds. */
  readonly line: number;
  /** Characters from the beginning of the line, counted from 1. */
  readonly column: number;
  /** The repeated key, at most 64 characters of it; only for `duplicate-key`. */
  readonly key?: string;

  constructor(kind: JsonProblemKind, bytes: Buffer, offset: number, what: string, key?: string) {
    const { line, column } = findPlace(bytes, offset);
    super(`${what} at line ${line}, column ${column}`);
    this.name = 'JsonProblemError';
    this.kind = kind;
    this.offset = offset;
    this.line = line;
    this.column = column;
    if (key !== undefined) this.key = key;
  }
}

function findPlace(bytes: Buffer, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let column = 1;
  for (let at = 0; at < offset; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x0a) {
      line++;
      column = 1;
    } else if ((byte & 0xc0) !== 0x80) {
      // Of a character with several bytes only the first one counts.
      column++;
    }
  }
  return { line, column };
}
