import type { Received } from '../conversation.ts';
import type { Wire } from '../wire.ts';
import { type CallNumbers, describeCall, describeMedia, describeUri, numberCalls, parseArguments } from './number-calls.ts';

const partsOf = (content: Wire): readonly Wire[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []));

function describePart(part: Wire): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'refusal':
      return `refusal ${part.refusal}`;
    case 'image_url':
      return describeUri(part.image_url.url) + (part.image_url.detail === undefined ? '' : ` ${part.image_url.detail}`);
    case 'file':
      return describeUri(part.file.file_data);
    case 'input_audio':
      return describeMedia(`audio/${part.input_audio.format}`, part.input_audio.data);
    default:
      return JSON.stringify(part);
  }
}

function describeMessage(message: Wire, calls: CallNumbers): readonly string[] {
  const parts = partsOf(message.content === '' && message.role === 'assistant' ? null : message.content).map(describePart);
  if (message.role === 'tool') return [`user: result ${calls.result(undefined, message.tool_call_id)} ${parts.join(' + ')}`];
  const role = message.role === 'developer' ? 'system' : message.role;
  const thoughts = message.reasoning_content === undefined ? [] : [`thought ${message.reasoning_content}`];
  const refusals = typeof message.refusal === 'string' ? [`refusal ${message.refusal}`] : [];
  const made = (message.tool_calls ?? []).map(({ id, function: called }: Wire) =>
    describeCall(calls.call(called.name, id), called.name, parseArguments(called.arguments)),
  );
  return [...thoughts, ...parts, ...refusals, ...made].map((part) => `${role}: ${part}`);
}

function readChoice(choice: Wire): string {
  if (choice === undefined || typeof choice === 'string') return choice ?? '';
  if (choice.type === 'function') return `tool ${choice.function.name}`;
  const { mode, tools } = choice.allowed_tools;
  return `${mode} of ${tools.map((tool: Wire) => tool.function.name).join(' ')}`;
}

/** The messages before the first one that is not system text. */
function leadingSystem(messages: readonly Wire[]): readonly Wire[] {
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  return first === -1 ? messages : messages.slice(0, first);
}

/** Reads the request of a chat completions upstream. */
export function receiveChat(body: Wire): Received {
  const calls = numberCalls();
  const leading = leadingSystem(body.messages);
  const functions: readonly Wire[] = (body.tools ?? []).map((tool: Wire) => tool.function);
  const format = body.response_format;
  const stop = body.stop ?? [];
  const effort = body.reasoning_effort;
  return {
    system: leading.flatMap(({ content }) => partsOf(content).map(describePart)).join('\n\n'),
    turns: body.messages.slice(leading.length).flatMap((message: Wire) => describeMessage(message, calls)),
    tools: functions.map(({ name }) => name),
    schemas: Object.fromEntries(functions.map(({ name, parameters }) => [name, parameters])),
    choice: readChoice(body.tool_choice),
    parallel: body.parallel_tool_calls,
    outputTokensMax: body.max_completion_tokens ?? body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    seed: body.seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    stop: typeof stop === 'string' ? [stop] : stop,
    user: body.user ?? body.safety_identifier,
    tier: body.service_tier,
    thinking: effort === undefined ? '' : effort === 'none' ? 'off' : `effort ${effort}`,
    format: format?.type === 'json_object' ? 'json' : format?.json_schema?.schema,
    search: body.web_search_options === undefined ? '' : 'search',
    proofs: [],
  };
}
