import { read, writeSync } from 'node:fs';

/** A piece of code to run. */
type RunOrder = { readonly run: number; readonly code: string };

/** Lines of JSON to and from the gateway, on the two descriptors of the process. */
export type ParentChannel = {
  readonly send: (message: object) => void;
  /** Passes orders on until the gateway closes the channel or dies; then the process ends. */
  readonly receive: (onOrder: (order: RunOrder) => void, onEnd: () => void) => void;
};

/** Opens the channel. Writes block while the gateway does not read, so that output is never buffered without limit. */
export function openParentChannel(): ParentChannel {
  // The functions are stored here, so that replacements by later code are not called.
  const { stringify, parse } = JSON;
  const encoder = new TextEncoder();
  return {
    send: (message) => {
      const bytes = encoder.encode(`${stringify(message)}\n`);
      for (let sent = 0; sent < bytes.length;) sent += writeSync(1, bytes, sent);
    },
    receive: (onOrder, onEnd) => {
      const decoder = new TextDecoder();
      const chunk = new Uint8Array(65536);
      let text = '';
      const next = (): void => {
        read(0, chunk, 0, chunk.length, null, (error, length) => {
          if (error || length === 0) return onEnd();
          text += decoder.decode(chunk.subarray(0, length), { stream: true });
          const lines = text.split('\n');
          text = lines.pop() ?? '';
          for (const line of lines) onOrder(parse(line) as RunOrder);
          next();
        });
      };
      next();
    },
  };
}
