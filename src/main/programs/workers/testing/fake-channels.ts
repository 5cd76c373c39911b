import type { Channel } from '../ipc.ts';

/**
 * The two ends of a channel in memory. Messages arrive later, in order, after a JSON round trip; `cut` drops all
 * further ones.
 */
export function createChannelPair(): { readonly ends: readonly [Channel, Channel]; readonly cut: () => void } {
  const listeners: ((message: unknown) => void)[][] = [[], []];
  let isCut = false;
  const end = (own: 0 | 1): Channel => ({
    send: (message) => {
      const text = JSON.stringify(message);
      setImmediate(() => {
        if (!isCut) for (const listener of listeners[1 - own] ?? []) listener(JSON.parse(text));
      });
    },
    onMessage: (listener) => void listeners[own]?.push(listener),
  });
  return {
    ends: [end(0), end(1)],
    cut: () => {
      isCut = true;
    },
  };
}
