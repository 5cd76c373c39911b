import { compileLater } from '../../compile-later.ts';
import { asText, isRecord } from '../../read-json.ts';
import type { JsonRecord, VendorError } from '../../simulated-vendor.ts';
import { openaiFlavor } from './chat-flavor.ts';
import { readInputItems, type ResponsesContext } from './responses-context.ts';
import { refuse } from './responses-error.ts';
import { findInvalidParameter } from './responses-invalid-parameter.ts';
import { reasoningEffort } from './responses-plan-request.ts';
import { type ResponsesRequest, responsesRequestSchema, type ResponsesTool } from './responses-request-schema.ts';
import { findStrictSchemaFault } from './responses-strict-schema.ts';

const validator = compileLater(responsesRequestSchema);
const metadataKeyLengthMax = 64;

/** Checks the shape of a body, then the rules between its members. Throws the vendor's refusal. */
export function checkRequest(body: JsonRecord | undefined): ResponsesRequest {
  if (!body) throw unreadable();
  if (!validator.Check(body)) {
    throw findInvalidParameter(responsesRequestSchema, body) ?? refuse('Invalid request body.', { code: 'invalid_value' });
  }
  const fault = checkModel(body) ?? checkMembers(body) ?? checkIds(body) ?? checkParts(body) ?? checkTools(body) ?? checkFormat(body);
  if (fault) throw fault;
  return body;
}

/** Checks that calls and their outputs match, over the whole conversation. */
export function checkContext(context: ResponsesContext): void {
  const items = [...context.earlierItems, ...context.inputItems];
  const calls = new Set<string>();
  const outputs = new Set(items.filter(isCallOutput).map((item) => asText(item.call_id)));
  for (const [index, item] of items.entries()) {
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      const callId = asText(item.call_id);
      calls.add(callId);
      if (!outputs.has(callId)) throw refuse(`No tool output found for function call ${callId}.`, { param: 'input' });
    }
    if (isCallOutput(item) && !calls.has(asText(item.call_id))) {
      const kind = item.type === 'custom_tool_call_output' ? 'custom tool call' : 'function call';
      throw refuse(`No tool call found for ${kind} output with call_id ${asText(item.call_id)}.`, { param: 'input' });
    }
    const next = items[index + 1];
    if (item.type === 'reasoning' && typeof item.id === 'string' && (!next || next.role === 'user')) {
      throw refuse(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`, { param: 'input' });
    }
  }
}

function isCallOutput(item: JsonRecord): boolean {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}

function unreadable(): VendorError {
  return refuse(
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
  );
}

function checkModel(body: ResponsesRequest): VendorError | undefined {
  const { model } = body;
  if (model.startsWith('missing-')) {
    return refuse(`The requested model '${model}' does not exist.`, { param: 'model', code: 'model_not_found' });
  }
  if (!openaiFlavor.refusesTemperature(model) || reasoningEffort(body) === 'none') return undefined;
  const refused = (['temperature', 'top_p'] as const).find((member) => (body[member] ?? 1) !== 1);
  if (refused === undefined) return undefined;
  return refuse(`Unsupported parameter: '${refused}' is not supported with this model.`, { param: refused, code: 'unsupported_parameter' });
}

function checkMembers(body: ResponsesRequest): VendorError | undefined {
  const longKey = Object.keys(body.metadata ?? {}).find((key) => key.length > metadataKeyLengthMax);
  if (longKey !== undefined) {
    return refuse(
      `Invalid 'metadata': key too long. Expected a key with maximum length ${metadataKeyLengthMax}, but got a key with length ${longKey.length} instead.`,
      { param: 'metadata', code: 'string_above_max_length' },
    );
  }
  if (body.previous_response_id && body.conversation) {
    const names = "'previous_response_id' and 'conversation'";
    return refuse(`Mutually exclusive parameters: ${names}. Ensure you are only providing one of: ${names}.`, {
      code: 'mutually_exclusive_parameters',
    });
  }
  if (body.conversation) {
    const id = typeof body.conversation === 'string' ? body.conversation : body.conversation.id;
    return refuse(`Conversation with id '${id}' not found.`, { status: 404 });
  }
  if (body.background && body.store === false) {
    return refuse("Background responses require 'store' to be true.", { param: 'background' });
  }
  if (body.stream_options && !body.stream) {
    return refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", { param: 'stream_options' });
  }
  return undefined;
}

/** The required prefixes of replayed items' ids. Ids of other items are not checked. */
const idPrefixes: { readonly [type: string]: string } = {
  function_call: 'fc',
  reasoning: 'rs',
  custom_tool_call: 'ctc',
  web_search_call: 'ws',
};

function checkIds(body: ResponsesRequest): VendorError | undefined {
  for (const [index, item] of readInputItems(body).entries()) {
    const isReply = (item.type === 'message' || item.type === undefined) && item.role === 'assistant';
    const prefix = isReply ? 'msg' : Object.hasOwn(idPrefixes, asText(item.type)) ? idPrefixes[asText(item.type)] : undefined;
    if (prefix === undefined || typeof item.id !== 'string' || item.id.startsWith(prefix)) continue;
    const param = `input[${index}].id`;
    return refuse(`Invalid '${param}': '${item.id}'. Expected an ID that begins with '${prefix}'.`, { param, code: 'invalid_value' });
  }
  return undefined;
}

function checkParts(body: ResponsesRequest): VendorError | undefined {
  for (const [index, item] of readInputItems(body).entries()) {
    const member = Array.isArray(item.output) ? 'output' : 'content';
    const parts = item[member];
    if (!Array.isArray(parts)) continue;
    for (const [at, part] of parts.entries()) {
      const fault = isRecord(part) ? checkPart(part, item.role, `input[${index}].${member}[${at}]`) : undefined;
      if (fault) return fault;
    }
  }
  return undefined;
}

function checkPart(part: JsonRecord, role: JsonRecord[string], path: string): VendorError | undefined {
  const type = asText(part.type);
  if (role === 'assistant' && type.startsWith('input_')) {
    return refuse(`Invalid value: '${type}'. Supported values are: 'output_text' and 'refusal'.`, { param: path, code: 'invalid_value' });
  }
  if (type === 'input_image' && !part.image_url && !part.file_id) {
    return refuse(`Missing required parameter: '${path}.image_url'.`, { param: `${path}.image_url`, code: 'missing_required_parameter' });
  }
  if (
    type === 'input_image' &&
    typeof part.image_url === 'string' &&
    !/^(https?:\/\/.|data:image\/[\w.+-]+;base64,.)/.test(part.image_url)
  ) {
    return refuse(`Invalid '${path}.image_url'. Expected a valid URL, but got a value with an invalid format.`, {
      param: `${path}.image_url`,
      code: 'invalid_value',
    });
  }
  if (type === 'input_file' && !part.file_data && !part.file_id && !part.file_url) {
    return refuse(`Missing required parameter: '${path}.file_id'.`, { param: `${path}.file_id`, code: 'missing_required_parameter' });
  }
  return undefined;
}

function checkTools(body: ResponsesRequest): VendorError | undefined {
  const tools = body.tools ?? [];
  for (const [index, tool] of tools.entries()) {
    const fault =
      tool.type === 'function' && tool.strict === true
        ? findStrictSchemaFault(isRecord(tool.parameters) ? tool.parameters : {})
        : undefined;
    if (fault !== undefined && tool.type === 'function') {
      return refuse(`Invalid schema for function '${tool.name}': ${fault}`, {
        param: `tools[${index}].parameters`,
        code: 'invalid_function_parameters',
      });
    }
  }
  return checkToolChoice(body.tool_choice, tools);
}

function checkToolChoice(choice: ResponsesRequest['tool_choice'], tools: readonly ResponsesTool[]): VendorError | undefined {
  if (choice === undefined || choice === null || choice === 'auto' || choice === 'none') return undefined;
  const name = typeof choice === 'string' ? choice : choice.type;
  if (tools.length === 0) return refuse(`Tool choice '${name}' must be specified with 'tools' parameter.`, { param: 'tool_choice' });
  if (typeof choice === 'string' || choice.type === 'allowed_tools') return undefined;
  const isKnown = tools.some((tool) => {
    if (tool.type === 'namespace')
      return tool.tools.some((nested) => nested.type === choice.type && 'name' in choice && nested.name === choice.name);
    const hasName = tool.type === 'function' || tool.type === 'custom';
    return tool.type === choice.type && (!hasName || ('name' in choice && tool.name === choice.name));
  });
  return isKnown ? undefined : refuse(`Tool choice '${name}' not found in 'tools' parameter.`, { param: 'tool_choice' });
}

function checkFormat(body: ResponsesRequest): VendorError | undefined {
  const format = body.text?.format;
  if (format?.type === 'json_object' && !/json/i.test(JSON.stringify([body.input, body.instructions ?? '']))) {
    return refuse("Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.", {
      param: 'input',
    });
  }
  if (format?.type !== 'json_schema' || format.strict !== true) return undefined;
  const fault = isRecord(format.schema) ? findStrictSchemaFault(format.schema) : undefined;
  if (fault === undefined) return undefined;
  return refuse(`Invalid schema for response_format '${format.name}': ${fault}`, {
    param: 'text.format.schema',
    code: 'invalid_json_schema',
  });
}
