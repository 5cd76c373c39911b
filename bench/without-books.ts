import { registerHooks } from 'node:module';

/**
 * Loaded before the gateway, it removes the books, to measure their cost: the journal writes nothing, and no call is
 * metered, priced or booked. Replies are sent in the same step of the event loop as with a journal, because batched
 * writes to sockets are cheaper, and that difference is not a cost of the books.
 */
const replaced: Readonly<Record<string, string>> = {
  'billing/journal/create-journal.ts': new URL('no-journal.ts', import.meta.url).href,
  'gateway/keep-books.ts': new URL('no-keeping.ts', import.meta.url).href,
};

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const path = Object.keys(replaced).find((each) => resolved.url.endsWith(`/src/${each}`));
    const other = path === undefined || context.parentURL?.includes('/bench/') === true ? undefined : replaced[path];
    return other === undefined ? resolved : { ...resolved, url: other };
  },
});
