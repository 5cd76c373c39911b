import { Type, type TSchema } from 'typebox';
import { isBase64 } from '../../platform/json/base64-text.ts';
import { orNull, type SchemaKit } from '../schema-builders.ts';

export function cacheControlSchema(kit: SchemaKit): TSchema {
  const type = Type.Literal('ephemeral');
  if (!kit.isCompatible) return kit.object({ type });
  return kit.object({ type, ttl: orNull(Type.Enum(['5m', '1h'])) });
}

/** @param replayed members of the vendor's replies that the contract does not contain; documented mode accepts them */
export function textBlockSchema(kit: SchemaKit, replayed: Readonly<Record<string, TSchema>> = {}): TSchema {
  return kit.object(
    {
      ...(kit.isCompatible ? {} : replayed),
      type: Type.Literal('text'),
      text: Type.String({ minLength: 1 }),
      cache_control: kit.optional(cacheControlSchema(kit)),
    },
    { citations: orNull(Type.Array(Type.Object({}))) },
  );
}

/** Any block of a message turn: contract B 2.1. */
export function contentBlockSchema(kit: SchemaKit): TSchema {
  return kit.variants({
    text: textBlockSchema(kit, { citations: Type.Optional(Type.Union([Type.Array(Type.Object({})), Type.Null()])) }),
    image: imageBlock(kit),
    tool_use: toolUseBlock(kit),
    tool_result: toolResultBlock(kit),
    document: documentBlock(kit),
    // Content of a reply is accepted unchanged. In compatible mode the vendor checks more of it.
    ...(kit.isCompatible ? furtherBlocks(kit) : { thinking: thinkingBlock(kit), redacted_thinking: redactedThinkingBlock(kit) }),
  });
}

/** Blocks of the vendor that the contract does not contain. */
function furtherBlocks(kit: SchemaKit): Readonly<Record<string, TSchema>> {
  const text = orNull(Type.String());
  const content = orNull(Type.Array(textBlockSchema(kit)));
  const marks = { cache_control: orNull(cacheControlSchema(kit)), citations: orNull(citationSwitch) };
  return {
    search_result: Type.Object({ type: Type.Literal('search_result'), source: text, title: text, content, ...marks }),
    thinking: Type.Object({ type: Type.Literal('thinking'), thinking: text, signature: text }),
    redacted_thinking: Type.Object({ type: Type.Literal('redacted_thinking'), data: text }),
  };
}

const citationSwitch = Type.Object({ enabled: orNull(Type.Boolean()) });

/** Sources by address, or stored at the vendor. */
const keptSources: Readonly<Record<string, TSchema>> = {
  url: Type.Object({ type: Type.Literal('url'), url: Type.String() }),
  file: Type.Object({ type: Type.Literal('file'), file_id: Type.String() }),
};

function imageBlock(kit: SchemaKit): TSchema {
  const inline = kit.object({
    type: Type.Literal('base64'),
    media_type: Type.Enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
    data: base64Schema,
  });
  return kit.object({
    type: Type.Literal('image'),
    source: kit.variants({ base64: inline, ...(kit.isCompatible && keptSources) }),
    cache_control: kit.optional(cacheControlSchema(kit)),
  });
}

const base64Schema = Type.Refine(
  Type.String({ minLength: 1, description: 'Base64, without a data: prefix.' }),
  isBase64,
  () => 'must be base64 without a data: prefix',
);

function toolUseBlock(kit: SchemaKit): TSchema {
  return kit.object(
    {
      type: Type.Literal('tool_use'),
      id: Type.String({ minLength: 1 }),
      name: Type.String({ minLength: 1 }),
      input: Type.Object({}),
      // The caller of a call, which the vendor's replies contain.
      ...(kit.isCompatible ? {} : { caller: Type.Optional(Type.Object({})) }),
      cache_control: kit.optional(cacheControlSchema(kit)),
    },
    { caller: orNull(Type.Object({})) },
  );
}

/** The vendor accepts a missing `content` as empty, and more blocks in it than the contract lists. */
function toolResultBlock(kit: SchemaKit): TSchema {
  const inner = kit.variants({ text: textBlockSchema(kit), image: imageBlock(kit) });
  const content = Type.Union([Type.String(), Type.Array(inner)]);
  return kit.object({
    type: Type.Literal('tool_result'),
    tool_use_id: Type.String({ minLength: 1 }),
    content: kit.requiredByContract(content),
    is_error: kit.optional(Type.Boolean()),
    cache_control: kit.optional(cacheControlSchema(kit)),
  });
}

function thinkingBlock(kit: SchemaKit): TSchema {
  return kit.object({
    type: Type.Literal('thinking'),
    thinking: Type.String(),
    signature: Type.String(),
    cache_control: kit.optional(cacheControlSchema(kit)),
  });
}

function redactedThinkingBlock(kit: SchemaKit): TSchema {
  return kit.object({ type: Type.Literal('redacted_thinking'), data: Type.String(), cache_control: kit.optional(cacheControlSchema(kit)) });
}

/** The contract does not define the sources of documents; these are the vendor's. */
function documentBlock(kit: SchemaKit): TSchema {
  const text = orNull(Type.String());
  const content = Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() }))]);
  const sources = Type.Union([
    Type.Object({ type: Type.Literal('text'), media_type: text, data: Type.String() }),
    Type.Object({ type: Type.Literal('base64'), media_type: text, data: Type.String() }),
    Type.Object({ type: Type.Literal('content'), content }),
    ...Object.values(keptSources),
    // The vendor checks everything else.
    Type.Object({}),
  ]);
  return kit.object(
    {
      type: Type.Literal('document'),
      source: kit.isCompatible ? sources : Type.Object({}),
      cache_control: kit.optional(cacheControlSchema(kit)),
    },
    { title: text, context: text, citations: orNull(citationSwitch) },
  );
}
