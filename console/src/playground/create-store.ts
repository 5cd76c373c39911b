import { useSyncExternalStore } from 'react';

export type Store<State> = {
  readonly get: () => State;
  readonly change: (change: (before: State) => State) => void;
  readonly use: () => State;
};

/**
 * State that outlives its page: a running call goes on while a receipt is read, and what was written is there after the
 * way back. It ends with the tab, and nothing of it is kept in the browser.
 */
export function createStore<State>(first: State): Store<State> {
  let state = first;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const get = (): State => state;
  return {
    get,
    change: (change) => {
      state = change(state);
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, get),
  };
}
