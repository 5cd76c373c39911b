import { randomBytes } from 'node:crypto';

/** A kind of request, and the number of connections that send it at once. */
export type Work = {
  readonly title: string;
  readonly connections: number;
  readonly path: string;
  readonly body: string;
  /** The reply is a stream, and the unit of the measurement is one of its events. */
  readonly streams?: true;
  /** The bare proxy that forwards chunks of requests is measured too: it is what large bodies are compared with. */
  readonly isLarge?: true;
};

const chatPath = '/v1/chat/completions';
const sentences = 'How fast is it, and how much of that is ours? ';

/** Text of this length that no string search can skip in one step. */
const textOf = (length: number): string => sentences.repeat(Math.ceil(length / sentences.length)).slice(0, length);

const chatBody = (textBytes: number, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    model: 'bench-model',
    messages: [
      { role: 'system', content: 'You measure.' },
      { role: 'user', content: textOf(textBytes) },
    ],
    temperature: 0.5,
    ...more,
  });

/** A stream with this many events at this rate per second, as bench/native/upstream.c reads them from the request. */
const streamOf = (events: number, perSecond: number): Readonly<Record<string, unknown>> => ({
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: events,
  seed: perSecond,
});

const tool = (at: number): unknown => ({
  type: 'function',
  function: {
    name: `tool_${at}`,
    description: textOf(700),
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 8 }, (_, field) => [`field_${field}`, { type: 'string', description: textOf(60) }]),
      ),
      required: ['field_0'],
      additionalProperties: false,
    },
  },
});

/** One turn of an agent program: 60 messages with the results of tools, and 40 tools. About 200 KB. */
function agentTurn(more: Readonly<Record<string, unknown>> = {}): string {
  const rounds = Array.from({ length: 20 }, (_, at) => [
    { role: 'user', content: textOf(900) },
    {
      role: 'assistant',
      content: textOf(300),
      tool_calls: [
        { id: `call_${at}`, type: 'function', function: { name: `tool_${at}`, arguments: JSON.stringify({ field_0: textOf(400) }) } },
      ],
    },
    { role: 'tool', tool_call_id: `call_${at}`, content: `{"lines":["${textOf(4500).replaceAll(', ', '\\n", "')}"]}` },
  ]);
  const tools = Array.from({ length: 40 }, (_, at) => tool(at));
  return JSON.stringify({ model: 'bench-model', messages: rounds.flat(), tools, temperature: 0.5, ...more });
}

/** An image of this size in base64, which has the quotes, slashes and plus signs of real data. */
function withImage(bytes: number): string {
  const url = `data:image/png;base64,${randomBytes(bytes).toString('base64')}`;
  const content = [
    { type: 'text', text: 'Describe this image.' },
    { type: 'image_url', image_url: { url } },
  ];
  return JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content }] });
}

/** A stream that is translated: the client speaks Messages, and the upstream chat completions. */
const translatedStream = (events: number): string =>
  JSON.stringify({
    model: 'bench-model',
    max_tokens: events,
    stream: true,
    messages: [{ role: 'user', content: textOf(1200) }],
  });

export const smallCall: Work = { title: '1.5 KB call', connections: 64, path: chatPath, body: chatBody(1400) };

/** Length of a stream: the setup of its call is a small part of it. */
export const streamSeconds = 4;
const eventsPerSecond = 20;
const streamedEvents = streamSeconds * eventsPerSecond;

export const stream: Work = {
  title: 'streamed event, 16,000 a second in 800 streams',
  connections: 800,
  path: chatPath,
  body: chatBody(1200, streamOf(streamedEvents, eventsPerSecond)),
  streams: true,
};

export const translated: Work = {
  ...stream,
  title: 'translated event, 16,000 a second in 800 streams',
  path: '/v1/messages',
  body: translatedStream(streamedEvents),
};

/** A stream that sends one event and then waits. */
export const idleStream: Work = {
  title: 'memory of an idle stream',
  connections: 2000,
  path: chatPath,
  body: chatBody(1200, streamOf(10, 0)),
  streams: true,
};

/** The same for the request of an agent program. */
export const idleAgentStream: Work = { ...idleStream, connections: 1500, body: agentTurn(streamOf(10, 0)) };

/** Everything that `npm run bench` measures per call or per event. */
export const works: readonly Work[] = [
  smallCall,
  { title: '50 KB call', connections: 32, path: chatPath, body: chatBody(50_000) },
  { title: '200 KB call of an agent, 60 messages and 40 tools', connections: 32, path: chatPath, body: agentTurn() },
  { title: '1.4 MB call with an image of 1 MB', connections: 8, path: chatPath, body: withImage(1 << 20), isLarge: true },
  { title: '5 MB call with an image', connections: 8, path: chatPath, body: withImage(3_750_000), isLarge: true },
  stream,
  translated,
  {
    ...stream,
    title: 'streamed event, 20,000 a second in 2,000 streams',
    connections: 2000,
    body: chatBody(1200, streamOf(streamedEvents / 2, eventsPerSecond / 2)),
  },
  { title: '1.5 KB call, one connection', connections: 1, path: chatPath, body: chatBody(1400) },
];
