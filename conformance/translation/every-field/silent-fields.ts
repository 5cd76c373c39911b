import type { DialectId } from '../../../src/dialects/dialect-id.ts';
import type { JsonValue } from '../../../src/platform/json/json-value.ts';

/** A field that may be omitted for an upstream of another dialect without a note, and the reason. */
export type SilentField = {
  readonly path: string;
  readonly why: string;
  /** The values for which it applies. Absent: all. */
  readonly values?: readonly JsonValue[];
  /** The upstreams for which it applies. Absent: all. */
  readonly to?: readonly DialectId[];
};

const transport = 'how the reply is sent, which the gateway does itself';
const usual = 'it is the default';
const served = 'the gateway does it, and the upstream has no part in it';
const record = "a record of the item's reply, which means nothing to a model";
const always = 'the vendor always does that';

const unread = 'the vendor does not read unsigned thoughts';
const hidden = 'no thoughts are shown unless a request needs them';

const noChat: readonly DialectId[] = ['anthropic-messages', 'openai-responses', 'gemini-generate-content'];
const schemaVendors: readonly DialectId[] = ['anthropic-messages', 'gemini-generate-content'];

export const silentFields: Readonly<Record<DialectId, readonly SilentField[]>> = {
  'anthropic-messages': [
    { path: 'stream', why: transport },
    { path: 'tools[].type', why: usual, values: ['custom'] },
    { path: 'tools[].user_location.type', why: 'there is one type of location' },
    { path: 'messages[].content[].source.media_type', why: 'a document given as text is text' },
    { path: 'messages[].content[].thinking', why: unread, to: ['gemini-generate-content'] },
    { path: 'service_tier', why: usual, values: ['auto'] },
    { path: 'output_config.effort', why: usual, values: ['high'] },
  ],
  'openai-responses': [
    { path: 'stream', why: transport },
    { path: 'stream_options.include_obfuscation', why: transport },
    { path: 'input[].type', why: usual, values: ['message'] },
    { path: 'input[].id', why: record },
    { path: 'input[].status', why: record },
    { path: 'input[].content[].logprobs', why: record },
    { path: 'input[].summary', why: unread, to: ['gemini-generate-content'] },
    { path: 'include', why: served },
    { path: 'include[]', why: served },
    { path: 'metadata', why: served },
    { path: 'previous_response_id', why: served },
    { path: 'conversation', why: served },
    { path: 'store', why: served },
    { path: 'background', why: served },
    { path: 'truncation', why: served },
    { path: 'service_tier', why: usual, values: ['auto'] },
    { path: 'reasoning.effort', why: 'a model that does not think needs no setting for it', values: ['none'] },
    { path: 'reasoning.context', why: usual, values: ['auto'] },
    { path: 'reasoning.summary', why: 'servers of chat completions show all thoughts that they have', to: ['openai-chat'] },
    { path: 'reasoning.generate_summary', why: 'servers of chat completions show all thoughts that they have', to: ['openai-chat'] },
    { path: 'text.format', why: usual, values: [{ type: 'text' }] },
    { path: 'text.format.strict', why: always, to: schemaVendors },
    { path: 'text.verbosity', why: usual, values: ['medium'] },
    { path: 'tools[].container.type', why: usual, values: ['auto'] },
    { path: 'tools[].search_context_size', why: usual, values: ['medium'] },
    { path: 'tools[].user_location.type', why: 'there is one type of location' },
  ],
  'openai-chat': [
    { path: 'stream', why: transport },
    { path: 'stream_options.include_usage', why: transport },
    { path: 'messages[].reasoning_content', why: unread, to: ['gemini-generate-content'] },
    { path: 'messages[].audio.id', why: 'the spoken text is in the field beside it' },
    { path: 'messages[]', why: 'the two roles of instructions mean the same' },
    { path: 'response_format', why: usual, values: [{ type: 'text' }] },
    { path: 'messages[].tool_calls[].type', why: usual, values: ['function'] },
    { path: 'response_format.json_schema.name', why: 'a label for its vendor, which is not part of the schema', to: schemaVendors },
    { path: 'response_format.json_schema.strict', why: always, to: schemaVendors },
    { path: 'chat_template_kwargs.enable_thinking', why: 'a model that does not think needs no setting for it', values: [false] },
    { path: 'reasoning.enabled', why: 'a model that does not think needs no setting for it', values: [false] },
    { path: 'reasoning.exclude', why: hidden, to: noChat },
    { path: 'include_reasoning', why: hidden, to: noChat },
    { path: 'web_search_options.user_location.type', why: 'there is one type of location' },
    { path: 'enable_thinking', why: 'a model that does not think needs no setting for it', values: [false] },
  ],
  'gemini-generate-content': [
    { path: 'model', why: 'the model is in the address' },
    { path: 'contents[].role', why: 'the kind of a part determines its role', values: ['user', 'function', 'tool'] },
    { path: 'systemInstruction.role', why: 'it means nothing to the vendor' },
    { path: 'contents[].parts[].functionResponse.id', why: 'it names the answered call, and that is carried' },
    { path: 'tools[].functionDeclarations[].parameters.type', why: 'arguments are an object', values: ['OBJECT'] },
    { path: 'tools[].functionDeclarations[].parameters.nullable', why: 'a schema without a type allows null' },
    { path: 'tools[].functionDeclarations[].parameters.propertyOrdering', why: 'it orders properties, and there are none around it' },
    { path: 'generationConfig.responseSchema.nullable', why: 'a schema without a type allows null' },
    { path: 'generationConfig.responseSchema.propertyOrdering', why: 'it orders properties, and there are none around it' },
    { path: 'generationConfig.responseMimeType', why: usual, values: ['text/plain'] },
    { path: 'generationConfig.responseModalities', why: usual, values: [['TEXT']] },
    { path: 'generationConfig.thinkingConfig.includeThoughts', why: hidden, values: [false] },
    {
      path: 'generationConfig.thinkingConfig.includeThoughts',
      why: 'servers of chat completions show all thoughts that they have',
      to: ['openai-chat'],
    },
    { path: 'serviceTier', why: usual, values: ['unspecified'] },
  ],
};
