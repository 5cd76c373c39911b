import { createHash } from 'node:crypto';

import type { JsonValue } from '../../platform/json/json-value.ts';

/** Replaces bytes: their number and their digest. */
export type BytesMark = { readonly bytes: number; readonly sha256: string };

export function markBytes(bytes: Uint8Array): BytesMark {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Bytes in base64, or in its form for addresses. */
export function markBase64(text: string): BytesMark {
  return markBytes(Buffer.from(text, 'base64'));
}

/** Shorter texts may be words. */
const base64CharactersMin = 256;
const wholeBase64 = /^[A-Za-z0-9+/_\-\r\n]+={0,2}$/;
/** Linear: the match begins at a fixed text, and consumes what follows it. */
const dataAddress = /data:([A-Za-z0-9.+-]{1,64}\/[A-Za-z0-9.+-]{1,64})?(?:;[A-Za-z0-9=.-]{1,64}){0,4};base64,([A-Za-z0-9+/_=-]{16,})/g;
const numbersMin = 16;

/** A text without the bytes in it: bytes are never recorded. */
export function textWithoutBytes(text: string): string {
  if (text.length < 32) return text;
  if (text.length >= base64CharactersMin && wholeBase64.test(text) && !/^[A-Za-z]+$/.test(text)) return describeMark(markBase64(text));
  if (!text.includes(';base64,')) return text;
  return text.replaceAll(dataAddress, (_whole, type: string | undefined, data: string) => describeMark(markBase64(data), type));
}

function describeMark({ bytes, sha256 }: BytesMark, type?: string): string {
  return `(${type === undefined ? '' : `${type}, `}${bytes} bytes, sha256 ${sha256})`;
}

/** A value without the bytes and the vectors in it. */
export function withoutBytes(value: JsonValue): JsonValue {
  if (typeof value === 'string') return textWithoutBytes(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const list: readonly JsonValue[] = value;
    if (list.length >= numbersMin && list.every((entry) => typeof entry === 'number')) return `(${list.length} numbers)`;
    return list.map(withoutBytes);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, member === undefined ? undefined : withoutBytes(member)]));
}
