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
  type StreamEvent,
  thoughtTokens,
  type Turn,
  type Wish,
  withDefined,
} from '../conversation.ts';

function encode({ system, turns, tools, schema, temperature, maxTokens, thinking }: Wish): JsonObject {
  const config = withDefined({
    temperature,
    maxOutputTokens: maxTokens,
    responseMimeType: schema === undefined ? undefined : 'application/json',
    responseJsonSchema: schema,
    thinkingConfig: thinking === undefined ? undefined : { thinkingBudget: thoughtTokens[thinking], includeThoughts: true },
  });
  const functions = tools.map(({ name, description, parameters }) => ({ name, description, parametersJsonSchema: parameters }));
  return withDefined({
    systemInstruction: system === '' ? undefined : { parts: [{ text: system }] },
    contents: turns.map(encodeTurn),
    tools: functions.length === 0 ? undefined : [{ functionDeclarations: functions }],
    generationConfig: Object.keys(config).length === 0 ? undefined : config,
  });
}

/** Ids that this reader made, because the interface need not have any. */
const ownId = /^call-\d+$/;

function encodeTurn(turn: Turn): JsonObject {
  switch (turn.role) {
    case 'user': {
      const pictures = turn.pictures.map(({ mediaType, mark }) => ({ inlineData: { mimeType: mediaType, data: mark } }));
      return { role: 'user', parts: [...pictures, { text: turn.text }] };
    }
    case 'assistant': {
      if (turn.spoken?.by === 'generate-content') return asObject(turn.spoken.content);
      const calls = turn.calls.map((call) => ({ functionCall: { name: call.name, args: argumentsOf(call) } }));
      return { role: 'model', parts: [...(turn.text === '' ? [] : [{ text: turn.text }]), ...calls] };
    }
    case 'answers': {
      const parts = turn.answers.map(({ id, name, output }) => ({
        functionResponse: withDefined({ id: ownId.test(id) ? undefined : id, name, response: { result: output } }),
      }));
      return { role: 'user', parts };
    }
  }
}

function replyOf(parts: readonly JsonObject[], rest: Pick<Reply, 'stop' | 'usage' | 'error'>): Reply {
  const texts = (isThought: boolean): string =>
    parts.map((part) => ((part['thought'] === true) === isThought ? asText(part['text']) : '')).join('');
  const calls = parts.flatMap((part, index) => {
    const call = part['functionCall'];
    if (call === undefined) return [];
    const { id, name, args = {} } = asObject(call);
    return [{ id: asText(id) || `call-${index}`, name: asText(name), arguments: JSON.stringify(args) }];
  });
  const pictures = parts.flatMap((part) => {
    const { mimeType, data } = asObject(part['inlineData']);
    return asText(mimeType).startsWith('image/') ? [`data:${asText(mimeType)};base64,${asText(data)}`] : [];
  });
  return { ...emptyReply, text: texts(false), thought: texts(true), calls, pictures, content: { role: 'model', parts }, ...rest };
}

function usageOf(value: Json | undefined): ReplyUsage | undefined {
  if (value === undefined || value === null) return undefined;
  const usage = asObject(value);
  const [written, thought] = [asCount(usage['candidatesTokenCount']), asCount(usage['thoughtsTokenCount'])];
  return {
    input: asCount(usage['promptTokenCount']),
    output: written === undefined && thought === undefined ? undefined : (written ?? 0) + (thought ?? 0),
    thought,
    cached: asCount(usage['cachedContentTokenCount']),
  };
}

/** A text that goes on in the next chunk is one part, so that a next request stays small. */
function addPart(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1);
  const isMore = (each: JsonObject): boolean => Object.keys(each).every((name) => name === 'text' || name === 'thought') && 'text' in each;
  if (last !== undefined && isMore(last) && isMore(part) && last['thought'] === part['thought'])
    parts[parts.length - 1] = { ...last, text: asText(last['text']) + asText(part['text']) };
  else parts.push(part);
}

function createReader() {
  const parts: JsonObject[] = [];
  let stop: string | undefined;
  let usage: ReplyUsage | undefined;
  let error: Json | undefined;
  const take = (chunk: JsonObject): void => {
    if (chunk['error'] !== undefined) error = chunk;
    usage = usageOf(chunk['usageMetadata']) ?? usage;
    const blocked = asText(asObject(chunk['promptFeedback'])['blockReason']);
    if (blocked !== '') stop = `blocked: ${blocked}`;
    const candidate = asList(chunk['candidates'])
      .map(asObject)
      .find((each) => (asCount(each['index']) ?? 0) === 0);
    if (candidate === undefined) return;
    for (const part of asList(asObject(candidate['content'])['parts'])) addPart(parts, asObject(part));
    stop = asText(candidate['finishReason']) || stop;
  };
  return {
    take,
    push: (event: StreamEvent): void => {
      const data = dataOf(event);
      if (data !== undefined) take(data);
    },
    read: (): Reply => replyOf(parts, { stop, usage, error }),
  };
}

export const generateContent: ChatInterface = {
  id: 'generate-content',
  title: 'Generate-content',
  book: 'gemini-generate-content',
  sdk: 'genai',
  headers: {},
  pathOf: ({ model, stream }) =>
    `/v1beta/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  encode,
  readWhole: (body) => {
    const reader = createReader();
    reader.take(asObject(body));
    return reader.read();
  },
  createReader,
};
