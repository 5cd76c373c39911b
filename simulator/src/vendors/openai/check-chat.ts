import { compileLater } from '../../compile-later.ts';
import type { JsonRecord, SimulatedRequest, VendorError } from '../../simulated-vendor.ts';
import type { ChatFlavor } from './chat-flavor.ts';
import {
  chatSchema,
  looseChatSchema,
  messageSchemas,
  reasoningAssistantSchema,
  type ChatMessage,
  type ChatRequest,
} from './chat-schema.ts';
import { refuse } from './responses-error.ts';
import { findInvalidParameter } from './responses-invalid-parameter.ts';
import { findStrictSchemaFault } from './responses-strict-schema.ts';

const chatValidator = compileLater(chatSchema);
const looseChatValidator = compileLater(looseChatSchema);
const assistantValidator = compileLater(reasoningAssistantSchema);
const messageValidators = {
  developer: compileLater(messageSchemas.developer),
  system: compileLater(messageSchemas.system),
  user: compileLater(messageSchemas.user),
  assistant: compileLater(messageSchemas.assistant),
  tool: compileLater(messageSchemas.tool),
  function: compileLater(messageSchemas.function),
};

export type CheckedChat = { readonly body: ChatRequest; readonly messages: readonly ChatMessage[] };

/**
 * Checks the body of a chat completion: shape, messages, then the vendor's rules between members. Throws the vendor's
 * refusal.
 */
export function checkChat(request: SimulatedRequest, flavor: ChatFlavor): CheckedChat {
  const value = request.body ?? {};
  const schema = flavor.isStrict ? chatSchema : looseChatSchema;
  const validator = flavor.isStrict ? chatValidator : looseChatValidator;
  if (!validator.Check(value)) throw findInvalidParameter(schema, value) ?? refuse('Invalid request body.');
  const body = value as ChatRequest;
  const messages = body.messages.map((message, index) => checkMessage(message, index, flavor));
  const fault =
    findModelFault(body, flavor) ?? findToolFault(body) ?? findFormatFault(body) ?? findMemberFault(body) ?? findPairFault(messages);
  if (fault !== undefined) throw fault;
  return { body, messages };
}

function checkMessage(message: ChatRequest['messages'][number], index: number, flavor: ChatFlavor): ChatMessage {
  const takesReasoning = message.role === 'assistant' && flavor.showsReasoning;
  const isValid = takesReasoning ? assistantValidator.Check(message) : messageValidators[message.role].Check(message);
  if (isValid) return message as ChatMessage;
  const schema = takesReasoning ? reasoningAssistantSchema : messageSchemas[message.role];
  throw (
    findInvalidParameter(schema, message, `messages[${index}]`) ?? refuse(`Invalid 'messages[${index}]'.`, { param: `messages[${index}]` })
  );
}

function findModelFault(body: ChatRequest, flavor: ChatFlavor): VendorError | undefined {
  if (body.model.startsWith('missing-')) {
    return refuse(`The model \`${body.model}\` does not exist or you do not have access to it.`, { status: 404, code: 'model_not_found' });
  }
  const { max_tokens: maxTokens, max_completion_tokens: maxCompletionTokens, temperature } = body;
  if (isGiven(maxTokens) && isGiven(maxCompletionTokens)) {
    return refuse("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.", {
      param: 'max_tokens',
      code: 'invalid_parameter_combination',
    });
  }
  if (isGiven(maxTokens) && flavor.refusesMaxTokens(body.model)) {
    return refuse("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
      param: 'max_tokens',
      code: 'unsupported_parameter',
    });
  }
  if (isGiven(temperature) && temperature !== 1 && flavor.refusesTemperature(body.model)) {
    return refuse(
      `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`,
      {
        param: 'temperature',
        code: 'unsupported_value',
      },
    );
  }
  return undefined;
}

function findToolFault(body: ChatRequest): VendorError | undefined {
  const { tools, tool_choice: choice } = body;
  if (tools !== undefined && tools.length === 0) {
    return refuse("Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.", {
      param: 'tools',
      code: 'empty_array',
    });
  }
  if (tools !== undefined && tools.length > 128) {
    return refuse(
      `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${tools.length} instead.`,
      {
        param: 'tools',
        code: 'array_above_max_length',
      },
    );
  }
  if (tools === undefined) {
    if (isGiven(choice))
      return refuse("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", { param: 'tool_choice' });
    if (isGiven(body.parallel_tool_calls)) {
      return refuse("Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.", {
        param: 'parallel_tool_calls',
      });
    }
    return undefined;
  }
  if (isGiven(choice) && typeof choice !== 'string' && 'function' in choice) {
    const name = choice.function.name;
    const isKnown = tools.some((tool) => 'function' in tool && tool.function.name === name);
    if (!isKnown)
      return refuse(`Invalid value for 'tool_choice': no function named '${name}' was specified in the 'tools' parameter.`, {
        param: 'tool_choice',
      });
  }
  return findParametersFault(tools);
}

function findParametersFault(tools: NonNullable<ChatRequest['tools']>): VendorError | undefined {
  for (const [index, tool] of tools.entries()) {
    if (!('function' in tool)) continue;
    const { name, parameters, strict } = tool.function;
    const schema = parameters as JsonRecord | undefined;
    if (schema !== undefined && schema['type'] !== undefined && schema['type'] !== 'object') {
      const message = `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(schema['type'])}'.`;
      return refuse(message, { param: `tools[${index}].function.parameters`, code: 'invalid_function_parameters' });
    }
    const fault = strict === true && schema !== undefined ? findStrictSchemaFault(schema) : undefined;
    if (fault !== undefined) {
      return refuse(`Invalid schema for function '${name}': ${fault}`, {
        param: `tools[${index}].function.parameters`,
        code: 'invalid_function_parameters',
      });
    }
  }
  return undefined;
}

function findFormatFault(body: ChatRequest): VendorError | undefined {
  const format = body.response_format;
  if (format?.type === 'json_object' && !/json/i.test(JSON.stringify(body.messages))) {
    return refuse("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.", {
      param: 'messages',
    });
  }
  if (format?.type !== 'json_schema') return undefined;
  const { name, schema, strict } = format.json_schema;
  if (schema === undefined) {
    return refuse("Missing required parameter: 'response_format.json_schema.schema'.", {
      param: 'response_format.json_schema.schema',
      code: 'missing_required_parameter',
    });
  }
  const fault = strict === true ? findStrictSchemaFault(schema as JsonRecord) : undefined;
  return fault === undefined ? undefined : refuse(`Invalid schema for response_format '${name}': ${fault}`, { param: 'response_format' });
}

function findMemberFault(body: ChatRequest): VendorError | undefined {
  if (isGiven(body.stream_options) && body.stream !== true) {
    return refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", { param: 'stream_options' });
  }
  if (Array.isArray(body.stop) && body.stop.length > 4) {
    return refuse(
      `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${body.stop.length} instead.`,
      {
        param: 'stop',
        code: 'array_above_max_length',
      },
    );
  }
  // The vendor writes several choices. The simulator refuses them instead of ignoring all but one.
  if (isGiven(body.n) && body.n > 1)
    return refuse('This simulated model writes one choice: n must be 1.', { param: 'n', code: 'unsupported_value' });
  return undefined;
}

/** Tool results answer all calls of the assistant's message directly before them. */
function findPairFault(messages: readonly ChatMessage[]): VendorError | undefined {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) {
        return refuse("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", {
          param: `messages.[${index}].role`,
        });
      }
      continue;
    }
    if (open.size > 0) return unanswered(open, index);
    if (message.role !== 'assistant') continue;
    const calls = message.tool_calls ?? [];
    open = new Set(calls.map((call) => call.id));
    if (
      calls.length === 0 &&
      !isGiven(message.content) &&
      !isGiven(message.refusal) &&
      !isGiven(message.function_call) &&
      !isGiven(message.audio)
    ) {
      return refuse("Invalid value for 'content': expected a string, got null.", { param: `messages.[${index}].content` });
    }
  }
  return open.size > 0 ? unanswered(open, messages.length) : undefined;
}

function unanswered(open: ReadonlySet<string>, index: number): VendorError {
  return refuse(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
    { param: `messages.[${index}].role` },
  );
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
