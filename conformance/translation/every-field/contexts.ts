import type { DialectId } from '../../../src/dialects/dialect-id.ts';
import { membersOf, objectsOf, textOf } from '../../../src/platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../src/platform/json/json-value.ts';
import type { GivenValues } from './walk-schema.ts';

/** The surroundings that a field of a dialect needs in a request. */
type Context = {
  /** Values of free form, and those that must match each other. */
  readonly given: GivenValues;
  /** Adds the requirements of the field: the call that a result answers, or a function beside a choice. */
  readonly complete: (body: JsonObject) => JsonObject;
};

const parameters: JsonObject = { type: 'object', properties: { sample: { type: 'string' } } };
const noSchema = { type: 'object' };

const listOf = (body: JsonObject, name: string): readonly JsonObject[] => objectsOf(body[name]);

/** The list with added entries before or after the matching ones. */
function surround(
  entries: readonly JsonObject[],
  before: (entry: JsonObject) => readonly JsonObject[],
  after: (entry: JsonObject) => readonly JsonObject[],
): readonly JsonObject[] {
  return entries.flatMap((entry) => [...before(entry), entry, ...after(entry)]);
}

const has = (body: JsonObject, ...names: readonly string[]): boolean => names.some((name) => body[name] !== undefined);

function completeMessages(body: JsonObject): JsonObject {
  const call = { type: 'tool_use', id: 'call_1', name: 'look_up', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'found' };
  const types = (message: JsonObject): readonly (JsonValue | undefined)[] => objectsOf(message['content']).map(({ type }) => type);
  const ofModel = ['tool_use', 'thinking', 'redacted_thinking', 'server_tool_use', 'compaction'];
  const spoken = listOf(body, 'messages').map((message) =>
    types(message).some((type) => ofModel.includes(textOf(type) ?? '')) ? { ...message, role: 'assistant' } : message,
  );
  const messages = surround(
    spoken,
    (message) =>
      types(message).includes('tool_result')
        ? [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: [call] },
          ]
        : [],
    (message) =>
      types(message).includes('tool_use')
        ? [{ role: 'user', content: [result] }]
        : message['role'] === 'user'
          ? []
          : [{ role: 'user', content: 'Go on' }],
  );
  return {
    ...body,
    messages,
    ...(has(body, 'thinking') ? { max_tokens: 40_000 } : {}),
    ...(has(body, 'tool_choice') && !has(body, 'tools') ? { tools: [{ name: 'look_up', input_schema: noSchema }] } : {}),
  };
}

function completeChat(body: JsonObject): JsonObject {
  const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } };
  const messages = surround(
    listOf(body, 'messages').map((message) => (message['role'] === 'assistant' ? { content: 'Hello', ...message } : message)),
    ({ role, name }) => {
      if (role === 'tool')
        return [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: null, tool_calls: [call] },
        ];
      if (role !== 'function') return [];
      return [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, function_call: { name, arguments: '{}' } },
      ];
    },
    ({ role, tool_calls: calls, function_call: older }) => {
      const results = objectsOf(calls).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'found' }));
      const answers = older === undefined ? [] : [{ role: 'function', name: membersOf(older)['name'], content: 'found' }];
      if (results.length + answers.length > 0) return [...results, ...answers];
      return role === 'user' || role === 'tool' || role === 'function' ? [] : [{ role: 'user', content: 'Go on' }];
    },
  );
  const definition = { name: 'look_up', parameters: noSchema };
  return {
    ...body,
    messages,
    ...(has(body, 'tool_choice', 'parallel_tool_calls') && !has(body, 'tools')
      ? { tools: [{ type: 'function', function: definition }] }
      : {}),
    ...(has(body, 'function_call') && !has(body, 'functions') ? { functions: [definition] } : {}),
    ...(has(body, 'stream_options') ? { stream: true } : {}),
    ...(has(body, 'top_logprobs') ? { logprobs: true } : {}),
  };
}

const screenTool = { type: 'computer_use_preview', display_width: 1000, display_height: 700, environment: 'browser' };

function completeResponses(body: JsonObject): JsonObject {
  const { input } = body;
  const screenshot = { type: 'computer_screenshot', image_url: 'data:image/png;base64,c2FtcGxl' };
  // A screenshot where the schema only requires an object.
  const isOfModel = (item: JsonObject): boolean =>
    objectsOf(item['content']).some(({ type }) => type === 'output_text' || type === 'refusal');
  const given = objectsOf(input).map((item) => {
    if (item['type'] === 'computer_call_output') return { ...item, output: screenshot };
    return isOfModel(item) ? { ...item, role: 'assistant' } : item;
  });
  const items = surround(
    given,
    ({ type }) => {
      if (type === 'function_call_output') return [{ type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{}' }];
      if (type === 'custom_tool_call_output') return [{ type: 'custom_tool_call', call_id: 'call_1', name: 'look_up', input: 'x' }];
      if (type === 'computer_call_output') return [{ type: 'computer_call', call_id: 'call_1', action: { type: 'screenshot' } }];
      return [];
    },
    ({ type, role }) => {
      if (type === 'function_call') return [{ type: 'function_call_output', call_id: 'call_1', output: 'found' }];
      if (type === 'custom_tool_call') return [{ type: 'custom_tool_call_output', call_id: 'call_1', output: 'found' }];
      if (type === 'computer_call') return [{ type: 'computer_call_output', call_id: 'call_1', output: screenshot }];
      return role === 'user' ? [] : [{ role: 'user', content: 'Go on' }];
    },
  );
  const isScreen = objectsOf(input).some(({ type }) => textOf(type)?.startsWith('computer_call') === true);
  const needsTools = has(body, 'tool_choice', 'parallel_tool_calls') && !has(body, 'tools');
  return {
    ...body,
    input: Array.isArray(input) ? items : (input ?? 'Hi, in JSON'),
    ...(isScreen ? { tools: [screenTool] } : {}),
    ...(needsTools ? { tools: [{ type: 'function', name: 'look_up', parameters: noSchema, strict: false }] } : {}),
  };
}

const datas = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];

/** A part with only the tested field. */
function fillPart(part: JsonObject): JsonObject {
  if (datas.some((name) => part[name] !== undefined)) return part;
  const isOfMedia = ['videoMetadata', 'mediaResolution'].some((name) => part[name] !== undefined);
  return isOfMedia ? { inlineData: { mimeType: 'image/png', data: 'c2FtcGxl' }, ...part } : { text: 'Hi', ...part };
}

/** A bare value needs the other permitted values. */
function completeConfig(config: JsonObject): JsonObject {
  return {
    ...(config['responseMimeType'] === 'text/x.enum' ? { responseSchema: { type: 'STRING', enum: ['red', 'blue'] } } : {}),
    ...config,
  };
}

function completeGenerate(body: JsonObject): JsonObject {
  const call = { role: 'model', parts: [{ functionCall: { name: 'look_up', args: {} } }] };
  const result = { role: 'user', parts: [{ functionResponse: { name: 'look_up', response: { result: 'found' } } }] };
  const holds = (content: JsonObject, name: string): boolean => objectsOf(content['parts']).some((part) => part[name] !== undefined);
  const filled = listOf(body, 'contents').map((content) => ({ ...content, parts: objectsOf(content['parts']).map(fillPart) }));
  const spoken = filled.map((content) =>
    ['functionCall', 'executableCode', 'codeExecutionResult', 'thought', 'thoughtSignature'].some((name) => holds(content, name))
      ? { ...content, role: 'model' }
      : content,
  );
  const contents = surround(
    spoken,
    (content) => (holds(content, 'functionResponse') ? [{ role: 'user', parts: [{ text: 'Hi' }] }, call] : []),
    (content) => {
      if (holds(content, 'functionCall')) return [result];
      return content['role'] === 'model' ? [{ role: 'user', parts: [{ text: 'Go on' }] }] : [];
    },
  );
  return {
    ...body,
    contents,
    ...(has(body, 'generationConfig') ? { generationConfig: completeConfig(membersOf(body['generationConfig'])) } : {}),
    ...(has(body, 'toolConfig') ? { tools: [{ functionDeclarations: [{ name: 'look_up' }] }] } : {}),
  };
}

export const contexts: Readonly<Record<DialectId, Context>> = {
  'anthropic-messages': {
    given: {
      model: 'm',
      max_tokens: 1000,
      'messages[].content[].tool_use_id': 'call_1',
      'messages[].content[].id': 'call_1',
      'messages[].content[].name': 'look_up',
      'messages[].content[].input': { sample: 'sample input' },
      'tools[].input_schema': parameters,
      'tool_choice.name': 'look_up',
    },
    complete: completeMessages,
  },
  'openai-responses': {
    given: {
      model: 'm',
      'input[].call_id': 'call_1',
      'input[].content[].annotations': [
        { type: 'url_citation', url: 'https://example.com/page', title: 'sample annotation', start_index: 0, end_index: 3 },
      ],
      'input[].arguments': '{"sample":"sample arguments"}',
      'input[].name': 'look_up',
      'tools[].parameters': parameters,
      'text.format.schema': parameters,
      'tool_choice.name': 'look_up',
      'input[].namespace': 'sample_space',
      'tools[].format': { type: 'grammar', syntax: 'lark', definition: 'sample: WORD' },
      'tools[].container.type': 'auto',
      'tool_choice.tools': [{ type: 'function', name: 'look_up' }],
      $Filter: { type: 'eq', key: 'sample', value: 'sample filter' },
    },
    complete: completeResponses,
  },
  'openai-chat': {
    given: {
      model: 'm',
      'messages[].tool_call_id': 'call_1',
      'messages[].tool_calls[].id': 'call_1',
      'messages[].tool_calls[].function.arguments': '{"sample":"sample arguments"}',
      'messages[].function_call.arguments': '{"sample":"sample arguments"}',
      'tools[].function.parameters': parameters,
      'functions[].parameters': parameters,
      'response_format.json_schema.name': 'sample_name',
      'response_format.json_schema.schema': parameters,
      logit_bias: { 50256: -17 },
      'tool_choice.function.name': 'look_up',
      'function_call.name': 'look_up',
      'messages[].name': 'sample_name',
      'messages[].annotations': [
        {
          type: 'url_citation',
          url_citation: { url: 'https://example.com/page', title: 'sample annotation', start_index: 0, end_index: 3 },
        },
      ],
      'tool_choice.allowed_tools': { mode: 'required', tools: [{ type: 'function', function: { name: 'look_up' } }] },
    },
    complete: completeChat,
  },
  'gemini-generate-content': {
    given: {
      'contents[].parts[].functionCall.args': { sample: 'sample args' },
      'contents[].parts[].functionResponse.name': 'look_up',
      'contents[].parts[].functionResponse.response': { sample: 'sample response' },
      $ValueSchema: { type: 'STRING' },
      'contents[].parts[].functionResponse.parts': [{ inlineData: { mimeType: 'image/png', data: 'c2FtcGxl' } }],
      'tools[].functionDeclarations[].parametersJsonSchema': parameters,
      'tools[].functionDeclarations[].responseJsonSchema': parameters,
      'generationConfig.responseFormat.text.mimeType': 'APPLICATION_JSON',
      'generationConfig.responseJsonSchema': parameters,
      'generationConfig._responseJsonSchema': parameters,
      'toolConfig.functionCallingConfig.allowedFunctionNames': ['look_up'],
    },
    complete: completeGenerate,
  },
};
