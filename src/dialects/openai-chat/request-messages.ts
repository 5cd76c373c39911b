import { Type, type TSchema } from 'typebox';
import type { SchemaWords } from '../shared-schema-words.ts';

/** A field that may be absent or null: the vendor takes null for absent throughout this dialect. */
export const optional = (schema: TSchema): TSchema => Type.Optional(Type.Union([schema, Type.Null()]));

/** One entry of `messages`, told apart by its role. */
export function messageSchema(words: SchemaWords): TSchema {
  const text = Type.Object({ type: Type.Literal('text'), text: Type.String() });
  const textContent = contentSchema(words.taggedUnion({ text }));
  const instructions = ['developer', 'system'].map((role) => Type.Object({ role: Type.Literal(role), content: textContent }));
  const user = Type.Object({ role: Type.Literal('user'), content: contentSchema(words.taggedUnion({ text, ...mediaParts() })) });
  const tool = Type.Object({ role: Type.Literal('tool'), content: textContent, tool_call_id: Type.String() });
  // The predecessor of `tool`, which old programs still send.
  const functionResult = Type.Object({
    role: Type.Literal('function'),
    content: Type.Union([Type.String(), Type.Null()]),
    name: Type.String(),
  });
  return Type.Union([...instructions, user, assistantMessage(words, text), tool, functionResult]);
}

function contentSchema(part: TSchema): TSchema {
  return Type.Union([Type.String(), Type.Array(part)]);
}

function mediaParts(): Record<string, TSchema> {
  return {
    image_url: Type.Object({
      type: Type.Literal('image_url'),
      image_url: Type.Object({ url: Type.String({ minLength: 1 }), detail: optional(Type.String()) }),
    }),
    input_audio: Type.Object({
      type: Type.Literal('input_audio'),
      input_audio: Type.Object({ data: Type.String({ minLength: 1 }), format: Type.String() }),
    }),
    file: Type.Object({
      type: Type.Literal('file'),
      file: Type.Object({ file_data: optional(Type.String()), file_id: optional(Type.String()), filename: optional(Type.String()) }),
    }),
  };
}

function assistantMessage(words: SchemaWords, text: TSchema): TSchema {
  const refusal = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
  return Type.Object({
    role: Type.Literal('assistant'),
    content: optional(contentSchema(words.taggedUnion({ text, refusal }))),
    refusal: optional(Type.String()),
    tool_calls: optional(Type.Array(toolCallSchema(words))),
    function_call: optional(Type.Object({ name: Type.String(), arguments: Type.String() })),
  });
}

function toolCallSchema(words: SchemaWords): TSchema {
  return words.taggedUnion({
    function: Type.Object({
      id: Type.String(),
      type: Type.Literal('function'),
      function: Type.Object({ name: Type.String(), arguments: Type.String() }),
    }),
    custom: Type.Object({
      id: Type.String(),
      type: Type.Literal('custom'),
      custom: Type.Object({ name: Type.String(), input: Type.String() }),
    }),
  });
}
