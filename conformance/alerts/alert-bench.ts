import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

import { post } from '../support/http.ts';
import { neverOverloaded } from '../support/start-simulated-weir.ts';
import type { ServedWeir } from '../support/start-weir.ts';

/** The secret of the channels of type callback. */
export const secret = `whsec_${Buffer.from('a secret of thirty-two bytes !!!').toString('base64')}`;

export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

async function serve(context: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A receiver of webhooks that keeps all requests. @param status of its answers */
export async function startReceiver(context: TestContext, status = 204): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const url = await serve(context, (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.writeHead(status, { location: 'http://127.0.0.1:9/elsewhere' }).end('{"ok":false}');
    });
  });
  return { url: `${url}/hook/very-secret-path`, received };
}

/** A receiver that never answers. */
export async function startHangingReceiver(context: TestContext): Promise<{ readonly url: string; readonly requests: () => number }> {
  let requests = 0;
  const url = await serve(context, () => void (requests += 1));
  return { url, requests: () => requests };
}

/** A mail server with the few commands that a client needs. It keeps the mails. */
export async function startMailServer(context: TestContext): Promise<{ readonly port: number; readonly mails: string[] }> {
  const mails: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    let text = '';
    let inData = false;
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    say('220 mail.test ESMTP');
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      for (let end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n'); end !== -1; end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + (inData ? 5 : 2));
        if (inData) mails.push(line);
        say(inData ? '250 kept' : line.startsWith('DATA') ? '354 go on' : line.startsWith('QUIT') ? '221 bye' : '250 ok');
        inData = !inData && line.startsWith('DATA');
      }
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, mails };
}

export type FakeUpstream = { readonly url: string; isDown: boolean };

/** A server of chat completions whose replies use all the tokens that a request allows. */
export async function startUpstream(context: TestContext): Promise<FakeUpstream> {
  const upstream = { url: '', isDown: false };
  upstream.url = await serve(context, (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      if (upstream.isDown) return void response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"down"}}');
      const { max_tokens: tokens, model } = JSON.parse(body) as { readonly max_tokens: number; readonly model: string };
      const message = { role: 'assistant', content: 'Hello' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: 'chatcmpl-1',
          object: 'chat.completion',
          created: 1,
          model,
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 },
        }),
      );
    });
  });
  return upstream;
}

/** A configuration with one model, `dear`, whose output costs 0.1 USD for each token, and whose input is free. */
export function configOf(upstream: FakeUpstream, alerts: object, more: object = {}): string {
  return JSON.stringify({
    overload: neverOverloaded,
    timeouts: { drainMs: 500 },
    upstreams: { server: { vendor: 'openai-compatible', baseUrl: `${upstream.url}/v1`, discoverModels: false } },
    models: { dear: { targets: [{ upstream: 'server', model: 'dear' }], price: { input: '0', output: '100000' } } },
    alerts: { checkSeconds: 1, ...alerts },
    ...more,
  });
}

/** Calls the model for tokens of 0.1 USD each. Resolves with the status. */
export async function spend({ gatewayUrl, apiKey }: ServedWeir, tokens: number): Promise<number> {
  const body = { model: 'dear', max_tokens: tokens, messages: [{ role: 'user', content: `for ${tokens}` }] };
  return (await post(`${gatewayUrl}/v1/chat/completions`, body, { authorization: `Bearer ${apiKey}` })).status;
}

/** The events that a receiver of callbacks got, as short texts. */
export function eventsOf(received: readonly Received[]): readonly string[] {
  return received.map(({ body }) => {
    const { type, data } = JSON.parse(body) as {
      readonly type: string;
      readonly data: { readonly rule: string; readonly threshold: number | null };
    };
    return `${type} ${data.rule}${data.threshold === null ? '' : ` ${data.threshold}`}`;
  });
}
