import type { Channel } from '../ipc.ts';

/** The two ends of a channel in memory. What is sent arrives later, in order, as JSON leaves it; `cut` drops everything from then on. */
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
