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

function encode({ model, system, turns, tools, schema, temperature, maxTokens, thinking, stream }: Wish): JsonObject {
  return withDefined({
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...turns.flatMap(encodeTurn)],
    tools:
      tools.length === 0
        ? undefined
        : tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } })),
    response_format: schema === undefined ? undefined : { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    reasoning_effort: thinking,
    temperature,
    max_completion_tokens: maxTokens,
    stream: stream ? true : undefined,
    stream_options: stream ? { include_usage: true } : undefined,
  });
}

function encodeTurn(turn: Turn): readonly JsonObject[] {
  switch (turn.role) {
    case 'user': {
      if (turn.pictures.length === 0) return [{ role: 'user', content: turn.text }];
      const pictures = turn.pictures.map(({ mediaType, mark }) => ({
        type: 'image_url',
        image_url: { url: `data:${mediaType};base64,${mark}` },
      }));
      return [{ role: 'user', content: [...pictures, { type: 'text', text: turn.text }] }];
    }
    case 'assistant': {
      if (turn.spoken?.by === 'chat-completions') return [asObject(turn.spoken.content)];
      const calls = turn.calls.map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: call.arguments },
      }));
      return [
        withDefined({
          role: 'assistant',
          content: turn.text === '' ? null : turn.text,
          tool_calls: calls.length === 0 ? undefined : calls,
        }),
      ];
    }
    case 'answers':
      return turn.answers.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output }));
  }
}

function replyOf(message: JsonObject, rest: Pick<Reply, 'stop' | 'usage' | 'error'>): Reply {
  const calls = asList(message['tool_calls'])
    .map(asObject)
    .map((call) => {
      const made = asObject(call['function']);
      return { id: asText(call['id']), name: asText(made['name']), arguments: asText(made['arguments']) };
    });
  const thought = asText(message['reasoning_content']) || asText(message['reasoning']);
  return { ...emptyReply, text: asText(message['content']) || asText(message['refusal']), thought, calls, content: message, ...rest };
}

function usageOf(value: Json | undefined): ReplyUsage | undefined {
  if (value === undefined || value === null) return undefined;
  const usage = asObject(value);
  return {
    input: asCount(usage['prompt_tokens']),
    output: asCount(usage['completion_tokens']),
    thought: asCount(asObject(usage['completion_tokens_details'])['reasoning_tokens']),
    cached: asCount(asObject(usage['prompt_tokens_details'])['cached_tokens']),
  };
}

/** The members of a message that grow by deltas. */
const growing = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const;

function addCalls(before: Json | undefined, deltas: readonly Json[]): readonly Json[] {
  const calls = [...asList(before)];
  for (const delta of deltas.map(asObject)) {
    const at = asCount(delta['index']) ?? calls.length;
    const call = asObject(calls[at]);
    const made = asObject(call['function']);
    const more = asObject(delta['function']);
    calls[at] = {
      id: asText(delta['id']) || asText(call['id']),
      type: 'function',
      function: { name: asText(made['name']) + asText(more['name']), arguments: asText(made['arguments']) + asText(more['arguments']) },
    };
  }
  return calls;
}

function createReader() {
  let message: JsonObject = { role: 'assistant', content: null };
  let stop: string | undefined;
  let usage: ReplyUsage | undefined;
  let error: Json | undefined;
  return {
    push: (event: StreamEvent): void => {
      const data = dataOf(event);
      if (data === undefined) return;
      if (data['error'] !== undefined && data['error'] !== null) error = data;
      usage = usageOf(data['usage']) ?? usage;
      const choice = asList(data['choices'])
        .map(asObject)
        .find((each) => (asCount(each['index']) ?? 0) === 0);
      if (choice === undefined) return;
      const delta = asObject(choice['delta']);
      for (const member of growing)
        if (asText(delta[member]) !== '') message = { ...message, [member]: asText(message[member]) + asText(delta[member]) };
      const calls = asList(delta['tool_calls']);
      if (calls.length > 0) message = { ...message, tool_calls: addCalls(message['tool_calls'], calls) };
      stop = asText(choice['finish_reason']) || stop;
    },
    read: (): Reply => replyOf(message, { stop, usage, error }),
  };
}

export const chatCompletions: ChatInterface = {
  id: 'chat-completions',
  title: 'Chat completions',
  book: 'openai-chat',
  sdk: 'openai',
  headers: {},
  pathOf: () => '/v1/chat/completions',
  encode,
  readWhole: (body) => {
    const whole = asObject(body);
    const choice = asObject(asList(whole['choices'])[0]);
    return replyOf(asObject(choice['message']), {
      stop: asText(choice['finish_reason']) || undefined,
      usage: usageOf(whole['usage']),
      error: whole['error'] === undefined || whole['error'] === null ? undefined : body,
    });
  },
  createReader,
};
