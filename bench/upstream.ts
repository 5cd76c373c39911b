import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The upstream of every contestant: chat completions with a fixed reply of about 1 KB, or a stream of 150-byte events
 * at the pace of the request's `seed` (events per second; `max_tokens` is their number).
 */
const reply = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_785_963_542,
  model: 'bench-model',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'measured '.repeat(80), refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: 320,
    completion_tokens: 160,
    total_tokens: 480,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 0 },
  },
});

const event = `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_785_963_542, model: 'b', choices: [{ index: 0, delta: { content: ' word' }, finish_reason: null }] })}`;
const paddedEvent = `${event.padEnd(148)}\n\n`;
const lastEvents = `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'b', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'b', choices: [], usage: { prompt_tokens: 320, completion_tokens: 160, total_tokens: 480 } })}\n\ndata: [DONE]\n\n`;

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (!body.includes('"stream":true')) {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(reply),
        'x-request-id': 'req_bench',
      });
      response.end(reply);
      return;
    }
    const { max_tokens: events = 100, seed: perSecond = 50 } = JSON.parse(body.toString()) as { max_tokens?: number; seed?: number };
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_bench' });
    let sent = 0;
    const timer = setInterval(() => {
      if (sent++ < events) {
        response.write(paddedEvent);
        return;
      }
      clearInterval(timer);
      response.end(lastEvents);
    }, 1000 / perSecond);
    response.on('close', () => clearInterval(timer));
  });
});

server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
