import {
  argumentsOf,
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
  thoughtTokens,
  type Turn,
  type Wish,
  withDefined,
} from '../conversation.ts';

/** The interface needs a bound. */
const maxTokensDefault = 1024;

function encode({ model, system, turns, tools, schema, temperature, maxTokens = maxTokensDefault, thinking, stream }: Wish): JsonObject {
  const budget = thinking === undefined ? 0 : thoughtTokens[thinking];
  return withDefined({
    model,
    max_tokens: maxTokens + budget,
    system: system === '' ? undefined : system,
    messages: turns.map(encodeTurn),
    tools:
      tools.length === 0 ? undefined : tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    output_config: schema === undefined ? undefined : { format: { type: 'json_schema', schema } },
    thinking: budget === 0 ? undefined : { type: 'enabled', budget_tokens: budget },
    temperature,
    stream: stream ? true : undefined,
  });
}

function encodeTurn(turn: Turn): JsonObject {
  switch (turn.role) {
    case 'user': {
      const pictures = turn.pictures.map(({ mediaType, mark }) => ({
        type: 'image',
        source: { type: 'base64', media_type: mediaType, data: mark },
      }));
      return { role: 'user', content: pictures.length === 0 ? turn.text : [...pictures, { type: 'text', text: turn.text }] };
    }
    case 'assistant': {
      if (turn.spoken?.by === 'messages') return { role: 'assistant', content: turn.spoken.content };
      const calls = turn.calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: argumentsOf(call) }));
      return { role: 'assistant', content: [...(turn.text === '' ? [] : [{ type: 'text', text: turn.text }]), ...calls] };
    }
    case 'answers':
      return { role: 'user', content: turn.answers.map(({ id, output }) => ({ type: 'tool_result', tool_use_id: id, content: output })) };
  }
}

/** A reply made of content blocks. Arguments of a running stream are text in `partial`. */
function replyOf(
  blocks: readonly JsonObject[],
  partial: ReadonlyMap<number, string>,
  rest: Pick<Reply, 'stop' | 'usage' | 'error'>,
): Reply {
  const join = (type: string, member: string): string =>
    blocks.map((block) => (block['type'] === type ? asText(block[member]) : '')).join('');
  const calls = blocks.flatMap((block, index) => {
    if (block['type'] !== 'tool_use') return [];
    const text = partial.get(index) ?? JSON.stringify(block['input'] ?? {});
    return [{ id: asText(block['id']), name: asText(block['name']), arguments: text }];
  });
  return { ...emptyReply, text: join('text', 'text'), thought: join('thinking', 'thinking'), calls, content: blocks, ...rest };
}

function usageOf(value: Json | undefined): ReplyUsage | undefined {
  if (value === undefined || value === null) return undefined;
  const usage = asObject(value);
  return {
    input: asCount(usage['input_tokens']),
    output: asCount(usage['output_tokens']),
    thought: asCount(asObject(usage['output_tokens_details'])['thinking_tokens']),
    cached: asCount(usage['cache_read_input_tokens']),
  };
}

function createReader() {
  const blocks: JsonObject[] = [];
  const partial = new Map<number, string>();
  let usage: JsonObject = {};
  let stop: string | undefined;
  let error: Json | undefined;

  function add(index: number, delta: JsonObject): void {
    const block = blocks[index];
    if (block === undefined) return;
    const append = (member: string): void => {
      blocks[index] = { ...block, [member]: asText(block[member]) + asText(delta[member]) };
    };
    if (delta['type'] === 'text_delta') append('text');
    else if (delta['type'] === 'thinking_delta') append('thinking');
    else if (delta['type'] === 'signature_delta') append('signature');
    else if (delta['type'] === 'input_json_delta') partial.set(index, (partial.get(index) ?? '') + asText(delta['partial_json']));
  }
  /** Arguments are whole at the end of their block. */
  function close(index: number): void {
    const text = partial.get(index);
    const block = blocks[index];
    if (text === undefined || text === '' || block === undefined) return;
    blocks[index] = { ...block, input: argumentsOf({ id: '', name: '', arguments: text }) };
  }

  return {
    push: (event: Parameters<typeof dataOf>[0]): void => {
      const data = dataOf(event);
      if (data === undefined) return;
      const index = asCount(data['index']) ?? 0;
      switch (asText(data['type'])) {
        case 'message_start':
          usage = { ...usage, ...asObject(asObject(data['message'])['usage']) };
          break;
        case 'content_block_start':
          blocks[index] = asObject(data['content_block']);
          break;
        case 'content_block_delta':
          add(index, asObject(data['delta']));
          break;
        case 'content_block_stop':
          close(index);
          break;
        case 'message_delta':
          usage = { ...usage, ...asObject(data['usage']) };
          stop = asText(asObject(data['delta'])['stop_reason']) || stop;
          break;
        case 'error':
          error = data;
          break;
        default:
      }
    },
    read: (): Reply => replyOf(blocks, partial, { stop, usage: usageOf(usage), error }),
  };
}

export const messages: ChatInterface = {
  id: 'messages',
  title: 'Messages',
  book: 'anthropic-messages',
  sdk: 'anthropic',
  headers: { 'anthropic-version': '2023-06-01' },
  pathOf: () => '/v1/messages',
  encode,
  readWhole: (body) => {
    const message = asObject(body);
    const blocks = asList(message['content']).map(asObject);
    return replyOf(blocks, new Map(), {
      stop: asText(message['stop_reason']) || undefined,
      usage: usageOf(message['usage']),
      error: message['type'] === 'error' ? body : undefined,
    });
  },
  createReader,
};
