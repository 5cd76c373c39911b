import type { RawWire } from '../../content/captures/wires.ts';
import { piecesOf } from '../../platform/byte-pieces.ts';
import type { UpstreamHandler, UpstreamRequest } from '../../platform/http/upstream-client.ts';
import { RecordedWire, type RecordingMemory } from './recorded-wire.ts';

/** The request and the reply of the last attempt of a call. */
export class RecordedAttempt {
  readonly #request: RecordedWire;
  readonly #reply: RecordedWire;
  #requestHead: Omit<RawWire, 'body'> | undefined;
  #replyHead: Omit<RawWire, 'body'> | undefined;

  constructor(memory: RecordingMemory, bytesMax: number) {
    this.#request = new RecordedWire(memory, bytesMax);
    this.#reply = new RecordedWire(memory, bytesMax);
  }

  /** Keeps a request. Another attempt before it is forgotten. @returns the handler of its answer, which keeps it too */
  begin({ method, path, headers, body }: UpstreamRequest, handler: UpstreamHandler): UpstreamHandler {
    this.clear();
    this.#requestHead = { start: `${method} ${path}`, headers };
    for (const piece of body === undefined ? [] : piecesOf(body)) this.#request.add(piece);
    const isPresent = (): boolean => this.#requestHead?.headers === headers;
    return {
      onRequestStart: (controller) => handler.onRequestStart(controller),
      onResponseStart: (controller, status, received) => {
        if (status >= 200 && isPresent()) this.#replyHead = { start: String(status), headers: joinHeaders(received) };
        handler.onResponseStart(controller, status, received);
      },
      onResponseData: (controller, piece) => {
        if (isPresent()) this.#reply.add(piece);
        handler.onResponseData(controller, piece);
      },
      onResponseEnd: (controller) => handler.onResponseEnd(controller),
      onResponseError: (controller, error) => handler.onResponseError(controller, error),
    };
  }

  wires(): { readonly upstream_request?: RawWire; readonly upstream_reply?: RawWire } {
    const request = this.#requestHead;
    const reply = this.#replyHead;
    return {
      ...(request === undefined ? {} : { upstream_request: { ...request, body: this.#request.body('') } }),
      ...(reply === undefined ? {} : { upstream_reply: { ...reply, body: this.#reply.body('') } }),
    };
  }

  clear(): void {
    this.#request.clear();
    this.#reply.clear();
    this.#requestHead = undefined;
    this.#replyHead = undefined;
  }
}

/** Repeated headers in one value. */
export function joinHeaders(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(', ')] as const],
    ),
  );
}
