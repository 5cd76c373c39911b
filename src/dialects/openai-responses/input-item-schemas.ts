import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { literal, nullable } from '../schema-builders.ts';
import type { SchemaKit } from '../schema-builders.ts';

/** A full URL or a base64 data URL. Schemes are case-insensitive. */
const imageUrl = Type.String({ pattern: '^([hH][tT][tT][pP][sS]?://.|[dD][aA][tT][aA]:.)' });

type Parts = Readonly<Record<string, TSchema>>;

function createInputParts(kit: SchemaKit): Parts {
  const optionalString = kit.optional(Type.String());
  // The end of the prefix that the vendor caches.
  const breakpoint = { prompt_cache_breakpoint: kit.optional(Type.Object({})) };
  return {
    input_text: kit.object({ type: literal('input_text'), text: Type.String() }, breakpoint),
    input_image: kit.object(
      {
        type: literal('input_image'),
        detail: kit.optional(kit.words(['high', 'low', 'auto'], ['original'])),
        file_id: optionalString,
        image_url: kit.optional(imageUrl),
      },
      breakpoint,
    ),
    input_file: kit.object(
      { type: literal('input_file'), file_data: optionalString, file_id: optionalString, filename: optionalString },
      { file_url: optionalString, detail: optionalString, ...breakpoint },
    ),
  };
}

function createOutputParts(kit: SchemaKit): Parts {
  return {
    output_text: kit.object({
      type: literal('output_text'),
      text: Type.String(),
      annotations: kit.requiredByContract(Type.Array(Type.Object({}))),
      // Clients send replies back as they received them, with this member.
      logprobs: kit.optional(Type.Array(Type.Unknown())),
    }),
    refusal: kit.object({ type: literal('refusal'), refusal: Type.String() }),
  };
}

function createMessage(kit: SchemaKit, inputParts: Parts): TSchema {
  const part = kit.variants({ ...inputParts, ...createOutputParts(kit) });
  const type = literal('message');
  return kit.object({
    type: Type.Optional(kit.isCompatible ? nullable(type) : type),
    role: kit.words(['user', 'assistant', 'system', 'developer']),
    content: Type.Union([Type.String(), Type.Array(part)]),
    id: kit.optional(Type.String()),
    status: createItemStatus(kit),
  });
}

const createItemStatus = (kit: SchemaKit, more: readonly string[] = []): TSchema =>
  kit.optional(kit.words(['in_progress', 'completed', 'incomplete', ...more]));

/** Tool results from the client: contract B, 2.4. */
function createResultItems(kit: SchemaKit, inputParts: Parts): Parts {
  const id = kit.optional(Type.String());
  const status = createItemStatus(kit);
  const callId = Type.String({ minLength: 1 });
  const safetyCheck = kit.object({ id: Type.String() }, { code: kit.optional(Type.String()), message: kit.optional(Type.String()) });
  const output = kit.isCompatible ? Type.Union([Type.String(), Type.Array(kit.variants(inputParts))]) : Type.String();
  const referenceType = literal('item_reference');
  return {
    function_call_output: kit.object({ type: literal('function_call_output'), call_id: callId, output, id, status }),
    computer_call_output: kit.object({
      type: literal('computer_call_output'),
      call_id: callId,
      output: Type.Object({}),
      acknowledged_safety_checks: kit.optional(Type.Array(kit.isCompatible ? safetyCheck : Type.Object({ id: Type.String() }))),
      id,
      status,
    }),
    item_reference: kit.object({
      type: Type.Optional(kit.isCompatible ? nullable(referenceType) : referenceType),
      id: Type.String({ minLength: 1 }),
    }),
  };
}

/**
 * Output items of an earlier reply: contract B, 2.5. A client that keeps its own history sends them back, often without
 * the ids of items that were never stored. So compatible mode requires only the members that a call needs.
 */
function createReplayedItems(kit: SchemaKit): Parts {
  const need = kit.requiredByContract;
  const id = need(Type.String());
  const status = need(kit.words(['in_progress', 'completed', 'incomplete'], ['searching', 'failed']));
  const objects = Type.Array(Type.Object({}));
  const summaryText = kit.object({ type: literal('summary_text'), text: Type.String() });
  return {
    function_call: kit.object(
      {
        type: literal('function_call'),
        arguments: Type.String(),
        call_id: Type.String({ minLength: 1 }),
        name: Type.String({ minLength: 1 }),
        id: kit.optional(Type.String()),
        status: createItemStatus(kit),
      },
      { namespace: kit.optional(Type.String()), caller: kit.optional(Type.Object({})) },
    ),
    file_search_call: kit.object({
      type: literal('file_search_call'),
      id,
      queries: need(Type.Array(Type.String())),
      status: need(kit.words(['in_progress', 'searching', 'incomplete', 'failed', 'completed'])),
      results: Type.Optional(nullable(objects)),
    }),
    web_search_call: kit.object(
      {
        type: literal('web_search_call'),
        id,
        status: need(kit.words(['in_progress', 'searching', 'completed', 'failed'], ['incomplete'])),
      },
      { action: kit.optional(Type.Object({})) },
    ),
    computer_call: kit.object({
      type: literal('computer_call'),
      action: need(Type.Object({ type: Type.String() })),
      call_id: Type.String({ minLength: 1 }),
      id,
      pending_safety_checks: need(objects),
      status,
    }),
    reasoning: kit.object({
      type: literal('reasoning'),
      id,
      summary: need(Type.Array(summaryText)),
      encrypted_content: Type.Optional(nullable(Type.String())),
      status: createItemStatus(kit),
    }),
  };
}

/** Items of a request or a conversation. */
export function createItemListSchema(kit: SchemaKit): TSchema {
  const inputParts = createInputParts(kit);
  const items = {
    message: createMessage(kit, inputParts),
    ...inputParts,
    ...createResultItems(kit, inputParts),
    ...createReplayedItems(kit),
  };
  return Type.Array(kit.variants(items));
}

/** `input`: a text, or a list of items. */
export function createInputSchema(kit: SchemaKit): TSchema {
  return Type.Union([Type.String(), createItemListSchema(kit)]);
}
