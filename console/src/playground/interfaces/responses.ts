import {
  asCount,
  asList,
  asObject,
  asText,
  type ChatInterface,
  dataOf,
  emptyReply,
  type Json,
  type JsonObject,
  type Reply,
  type ReplyUsage,
  type StreamEvent,
  type Turn,
  type Wish,
  withDefined,
} from '../conversation.ts';

function encode(wish: Wish): JsonObject {
  const { model, system, tools, schema, temperature, maxTokens, thinking, stream, background = false } = wish;
  const { previousId, turns } = newTurns(wish);
  return withDefined({
    model,
    instructions: system === '' ? undefined : system,
    previous_response_id: previousId,
    input: turns.flatMap(encodeTurn),
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({ name, description, parameters }) => ({ type: 'function', name, description, parameters, strict: false })),
    text: schema === undefined ? undefined : { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
    reasoning: thinking === undefined ? undefined : { effort: thinking, summary: 'auto' },
    temperature,
    max_output_tokens: maxTokens,
    background: background ? true : undefined,
    stream: stream ? true : undefined,
  });
}

/** What a request sends of the conversation: all of it, or what followed the response that it names. */
function newTurns({ turns, byId = false }: Wish): { readonly previousId: string | undefined; readonly turns: readonly Turn[] } {
  const at = byId ? turns.findLastIndex((turn) => turn.role === 'assistant') : -1;
  const last = turns[at];
  const previousId = last?.role === 'assistant' && last.spoken?.by === 'responses' ? last.spoken.id : undefined;
  return previousId === undefined ? { previousId, turns } : { previousId, turns: turns.slice(at + 1) };
}

function encodeTurn(turn: Turn): readonly Json[] {
  switch (turn.role) {
    case 'user': {
      if (turn.pictures.length === 0) return [{ role: 'user', content: turn.text }];
      const pictures = turn.pictures.map(({ mediaType, mark }) => ({
        type: 'input_image',
        detail: 'auto',
        image_url: `data:${mediaType};base64,${mark}`,
      }));
      return [{ role: 'user', content: [...pictures, { type: 'input_text', text: turn.text }] }];
    }
    case 'assistant':
      if (turn.spoken?.by === 'responses') return asList(turn.spoken.content);
      return [
        ...(turn.text === '' ? [] : [{ role: 'assistant', content: turn.text }]),
        ...turn.calls.map((call) => ({ type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments })),
      ];
    case 'answers':
      return turn.answers.map(({ id, output }) => ({ type: 'function_call_output', call_id: id, output }));
  }
}

const textsOf = (item: JsonObject): string =>
  asList(item['content'])
    .map(asObject)
    .map((part) => asText(part['text']) || asText(part['refusal']))
    .join('');

const thoughtOf = (item: JsonObject): string => {
  const parts = [...asList(item['summary']), ...asList(item['content'])];
  return parts.map((part) => asText(asObject(part)['text'])).join('\n\n');
};

/** A reply made of the items of its output. */
function replyOf(items: readonly JsonObject[], rest: Pick<Reply, 'stop' | 'usage' | 'error' | 'id'>): Reply {
  const of = (type: string): readonly JsonObject[] => items.filter((item) => item['type'] === type);
  const calls = of('function_call').map((item) => ({
    id: asText(item['call_id']),
    name: asText(item['name']),
    arguments: asText(item['arguments']),
  }));
  const text = of('message').map(textsOf).join('');
  return { ...emptyReply, text, thought: of('reasoning').map(thoughtOf).join('\n\n'), calls, content: items, ...rest };
}

function usageOf(value: Json | undefined): ReplyUsage | undefined {
  if (value === undefined || value === null) return undefined;
  const usage = asObject(value);
  return {
    input: asCount(usage['input_tokens']),
    output: asCount(usage['output_tokens']),
    thought: asCount(asObject(usage['output_tokens_details'])['reasoning_tokens']),
    cached: asCount(asObject(usage['input_tokens_details'])['cached_tokens']),
  };
}

/** Whether a response of this status goes on. */
export const isUnderWay = (status: string): boolean => status === 'queued' || status === 'in_progress';

function readResponse(response: JsonObject): Pick<Reply, 'stop' | 'usage' | 'error' | 'id'> {
  const status = asText(response['status']);
  const why = asText(asObject(response['incomplete_details'])['reason']);
  return {
    id: asText(response['id']) || undefined,
    stop: status === '' || isUnderWay(status) ? undefined : why === '' ? status : `${status}: ${why}`,
    usage: usageOf(response['usage']),
    error: response['error'] ?? undefined,
  };
}

/** Adds text to a part of an item: its list, the place in it, and the member that grows. */
function grow(item: JsonObject, list: 'content' | 'summary', index: number, member: string, type: string, delta: string): JsonObject {
  const parts = [...asList(item[list])];
  const part = asObject(parts[index] ?? { type });
  parts[index] = { ...part, [member]: asText(part[member]) + delta };
  return { ...item, [list]: parts };
}

function createReader() {
  const items: JsonObject[] = [];
  let end: Pick<Reply, 'stop' | 'usage' | 'error' | 'id'> = { stop: undefined, usage: undefined, error: undefined };

  function add(type: string, data: JsonObject): void {
    const at = asCount(data['output_index']) ?? 0;
    const item = items[at];
    if (item === undefined) return;
    const part = asCount(data['content_index']) ?? asCount(data['summary_index']) ?? 0;
    const delta = asText(data['delta']);
    if (type === 'response.output_text.delta') items[at] = grow(item, 'content', part, 'text', 'output_text', delta);
    else if (type === 'response.refusal.delta') items[at] = grow(item, 'content', part, 'refusal', 'refusal', delta);
    else if (type === 'response.reasoning_summary_text.delta') items[at] = grow(item, 'summary', part, 'text', 'summary_text', delta);
    else if (type === 'response.reasoning_text.delta') items[at] = grow(item, 'content', part, 'text', 'reasoning_text', delta);
    else if (type === 'response.function_call_arguments.delta') items[at] = { ...item, arguments: asText(item['arguments']) + delta };
  }

  return {
    push: (event: StreamEvent): void => {
      const data = dataOf(event);
      if (data === undefined) return;
      const type = asText(data['type']);
      if (type === 'response.output_item.added' || type === 'response.output_item.done')
        items[asCount(data['output_index']) ?? items.length] = asObject(data['item']);
      else if (type === 'response.created') end = { ...end, id: asText(asObject(data['response'])['id']) || undefined };
      else if (type === 'error') end = { ...end, error: data };
      else if (type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed') {
        const response = asObject(data['response']);
        end = readResponse(response);
        const output = asList(response['output']).map(asObject);
        if (output.length > 0) items.splice(0, items.length, ...output);
      } else if (type.endsWith('.delta')) add(type, data);
    },
    read: (): Reply => replyOf(items, end),
  };
}

export const responses: ChatInterface = {
  id: 'responses',
  title: 'Responses',
  book: 'openai-responses',
  sdk: 'openai',
  headers: {},
  pathOf: () => '/v1/responses',
  encode,
  readWhole: (body) => {
    const response = asObject(body);
    return replyOf(asList(response['output']).map(asObject), readResponse(response));
  },
  createReader,
};
