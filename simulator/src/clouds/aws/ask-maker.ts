import { request, type IncomingMessage } from 'node:http';

/** Asks a simulated maker on loopback, and returns its answer when its head has come. */
export function askMaker(
  url: string,
  options: { readonly method: string; readonly headers: Readonly<Record<string, string>>; readonly body?: Buffer },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method, headers, body } = options;
    const asked = request(url, { method, headers: { ...headers, 'content-length': String(body?.length ?? 0) } }, resolve);
    asked.on('error', reject);
    asked.end(body);
  });
}

export async function readAll(reply: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
