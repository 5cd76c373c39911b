import type { Received } from '../conversation.ts';
import type { Wire } from '../wire.ts';
import { type CallNumbers, describeCall, describeUri, numberCalls, parseArguments } from './number-calls.ts';

const partsOf = (content: Wire): readonly Wire[] => (typeof content === 'string' ? [{ type: 'input_text', text: content }] : content);

function describePart(part: Wire): string {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return part.text;
    case 'refusal':
      return `refusal ${part.refusal}`;
    case 'input_image':
      return describeUri(part.image_url) + (part.detail === undefined ? '' : ` ${part.detail}`);
    case 'input_file':
      return describeUri(part.file_data ?? part.file_url);
    default:
      return JSON.stringify(part);
  }
}

const isSystem = ({ role }: Wire): boolean => role === 'system' || role === 'developer';

function describeItem(item: Wire, calls: CallNumbers): readonly string[] {
  switch (item.type ?? 'message') {
    case 'message': {
      const role = isSystem(item) ? 'system' : item.role;
      return partsOf(item.content).map((part) => `${role}: ${describePart(part)}`);
    }
    case 'function_call':
      return [`assistant: ${describeCall(calls.call(item.name, item.call_id), item.name, parseArguments(item.arguments))}`];
    case 'function_call_output':
      return [`user: result ${calls.result(undefined, item.call_id)} ${partsOf(item.output).map(describePart).join(' + ')}`];
    case 'reasoning':
      return [`assistant: thought ${item.summary.map(({ text }: Wire) => text).join('')}`];
    default:
      return [JSON.stringify(item)];
  }
}

function readChoice(choice: Wire): string {
  if (choice === undefined || typeof choice === 'string') return choice ?? '';
  if (choice.type === 'function') return `tool ${choice.name}`;
  return `${choice.mode} of ${choice.tools.map(({ name }: Wire) => name).join(' ')}`;
}

function leadingSystem(items: readonly Wire[]): readonly Wire[] {
  const first = items.findIndex((item) => !isSystem(item));
  return first === -1 ? items : items.slice(0, first);
}

/** Reads the request of a Responses upstream. */
export function receiveResponses(body: Wire): Received {
  const calls = numberCalls();
  const items: readonly Wire[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
  const leading = leadingSystem(items);
  const system = [body.instructions ?? [], leading.flatMap(({ content }) => partsOf(content).map(describePart))].flat();
  const tools: readonly Wire[] = body.tools ?? [];
  const functions = tools.filter(({ type }) => type === 'function');
  const search = tools.find(({ type }) => type.startsWith('web_search'));
  const effort = body.reasoning?.effort;
  const format = body.text?.format;
  return {
    system: system.join('\n\n'),
    turns: items.slice(leading.length).flatMap((item) => describeItem(item, calls)),
    tools: functions.map(({ name }) => name),
    schemas: Object.fromEntries(functions.map(({ name, parameters }) => [name, parameters])),
    choice: readChoice(body.tool_choice),
    parallel: body.parallel_tool_calls,
    outputTokensMax: body.max_output_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    topK: undefined,
    seed: undefined,
    presencePenalty: undefined,
    frequencyPenalty: undefined,
    stop: [],
    user: body.user ?? body.safety_identifier,
    tier: body.service_tier,
    thinking: effort === undefined ? '' : effort === 'none' ? 'off' : `effort ${effort}`,
    format: format?.type === 'json_object' ? 'json' : format?.schema,
    search: search === undefined ? '' : ['search', ...(search.filters?.allowed_domains ?? [])].join(' '),
    proofs: items.flatMap((item) => item.encrypted_content ?? []),
  };
}
