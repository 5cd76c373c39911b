import { Type, type TSchema } from 'typebox';
import { literal, orNull, type SchemaKit } from '../schema-builders.ts';

/** One entry of `messages`. Its role decides its form. */
export function messageSchema(kit: SchemaKit): TSchema {
  const text = Type.Object({ type: Type.Literal('text'), text: Type.String(), ...breakpoint });
  const textContent = contentSchema(kit.variants({ text }));
  const instructions = ['developer', 'system'].map((role) =>
    Type.Object({ role: Type.Literal(role), content: textContent, name: orNull(Type.String()) }),
  );
  const user = Type.Object({
    role: Type.Literal('user'),
    content: contentSchema(kit.variants({ text, ...mediaParts(kit) })),
    name: orNull(Type.String()),
  });
  const tool = Type.Object({ role: Type.Literal('tool'), content: textContent, tool_call_id: Type.String() });
  // The predecessor of `tool`, which old programs still send.
  const functionResult = Type.Object({
    role: Type.Literal('function'),
    content: Type.Union([Type.String(), Type.Null()]),
    name: Type.String(),
  });
  return Type.Union([...instructions, user, assistantMessage(kit, text), tool, functionResult]);
}

/** The end of the prefix that the vendor caches. */
const breakpoint = { prompt_cache_breakpoint: orNull(Type.Object({})) };

function contentSchema(part: TSchema): TSchema {
  return Type.Union([Type.String(), Type.Array(part)]);
}

function mediaParts(kit: SchemaKit): Record<string, TSchema> {
  const url = Type.String({ minLength: 1 });
  const image = Type.Object({ url, detail: orNull(Type.String()) });
  return {
    image_url: Type.Object({
      type: Type.Literal('image_url'),
      // Mistral's clients send the address alone.
      image_url: kit.isCompatible ? Type.Union([image, url]) : image,
      ...breakpoint,
    }),
    input_audio: Type.Object({
      type: Type.Literal('input_audio'),
      input_audio: Type.Object({ data: Type.String({ minLength: 1 }), format: Type.String() }),
    }),
    file: Type.Object({
      type: Type.Literal('file'),
      file: Type.Object({ file_data: orNull(Type.String()), file_id: orNull(Type.String()), filename: orNull(Type.String()) }),
    }),
  };
}

function assistantMessage(kit: SchemaKit, text: TSchema): TSchema {
  const refusal = Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() });
  return Type.Object({
    role: Type.Literal('assistant'),
    content: orNull(contentSchema(kit.variants({ text, refusal }))),
    refusal: orNull(Type.String()),
    tool_calls: orNull(Type.Array(toolCallSchema(kit))),
    function_call: orNull(Type.Object({ name: Type.String(), arguments: Type.String() })),
    name: orNull(Type.String()),
    audio: orNull(Type.Object({ id: orNull(Type.String()) })),
    annotations: orNull(Type.Array(Type.Object({ type: Type.String() }))),
    reasoning_content: orNull(Type.String()),
  });
}

function toolCallSchema(kit: SchemaKit): TSchema {
  const called = { name: Type.String(), arguments: Type.String() };
  // Mistral's clients omit the type, and some send the arguments as an object.
  const bare = Type.Object({
    id: Type.String(),
    type: orNull(literal('function')),
    function: Type.Object({ ...called, arguments: Type.Union([Type.String(), Type.Object({})]) }),
  });
  return kit.variants({
    function: kit.isCompatible ? bare : Type.Object({ id: Type.String(), type: Type.Literal('function'), function: Type.Object(called) }),
    custom: Type.Object({
      id: Type.String(),
      type: Type.Literal('custom'),
      custom: Type.Object({ name: Type.String(), input: Type.String() }),
    }),
  });
}
