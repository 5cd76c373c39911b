import { Type, type TSchema } from 'typebox';
import type { SchemaWords } from '../shared-schema-words.ts';

export function cacheControlSchema(words: SchemaWords): TSchema {
  const type = Type.Literal('ephemeral');
  if (words.mode === 'documented') return words.object({ type });
  return words.object({ type, ttl: words.optional(Type.Enum(['5m', '1h'])) });
}

export function textBlockSchema(words: SchemaWords): TSchema {
  return words.object({
    type: Type.Literal('text'),
    text: Type.String({ minLength: 1 }),
    cache_control: words.optional(cacheControlSchema(words)),
  });
}

/** Any block of a message turn: contract B 2.1. */
export function contentBlockSchema(words: SchemaWords): TSchema {
  return words.taggedUnion({
    text: textBlockSchema(words),
    image: imageBlock(words),
    tool_use: toolUseBlock(words),
    tool_result: toolResultBlock(words),
    document: documentBlock(words),
  });
}

function imageBlock(words: SchemaWords): TSchema {
  const inline = words.object({
    type: Type.Literal('base64'),
    media_type: Type.Enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
    data: base64Schema,
  });
  return words.object({
    type: Type.Literal('image'),
    source: words.taggedUnion({ base64: inline }),
    cache_control: words.optional(cacheControlSchema(words)),
  });
}

// Looking for the first wrong character needs no backtracking, which matters for images of many megabytes. Line breaks and the URL-safe
// alphabet pass: decoders differ, and the vendor's has the last word.
const otherThanBase64 = /[^A-Za-z0-9+/=_\s-]/;

const base64Schema = Type.Refine(
  Type.String({ minLength: 1, description: 'Base64, without a data: prefix.' }),
  (data) => !otherThanBase64.test(data),
  () => 'must be base64 without a data: prefix',
);

function toolUseBlock(words: SchemaWords): TSchema {
  return words.object({
    type: Type.Literal('tool_use'),
    id: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    input: Type.Object({}),
    cache_control: words.optional(cacheControlSchema(words)),
  });
}

/** The vendor reads a missing `content` as an empty one, and lets more blocks into it than the contract lists. */
function toolResultBlock(words: SchemaWords): TSchema {
  const inner = words.taggedUnion({ text: textBlockSchema(words), image: imageBlock(words) });
  const content = Type.Union([Type.String(), Type.Array(inner)]);
  return words.object({
    type: Type.Literal('tool_result'),
    tool_use_id: Type.String({ minLength: 1 }),
    content: words.mode === 'documented' ? content : words.optional(content),
    is_error: words.optional(Type.Boolean()),
    cache_control: words.optional(cacheControlSchema(words)),
  });
}

/** The contract does not show what a document source holds, so its inside is the vendor's to judge. */
function documentBlock(words: SchemaWords): TSchema {
  return words.object({
    type: Type.Literal('document'),
    source: Type.Object({}),
    cache_control: words.optional(cacheControlSchema(words)),
  });
}
