import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';

/**
 * Loaded before the gateway, it removes the books, to measure their cost: the journal writes nothing, and no call is
 * metered, priced or booked. Replies are sent in the same step of the event loop as with a journal, because batched
 * writes to sockets are cheaper, and that difference is not a cost of the books.
 */
const replaced: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'billing/journal/create-journal.ts': 'no-journal.ts',
    'gateway/attempts/books/settle.ts': 'no-keeping.ts',
  }).map(([module, other]) => [new URL(`../src/${module}`, import.meta.url).href, new URL(other, import.meta.url).href]),
);

for (const module of replaced.keys())
  if (!existsSync(new URL(module))) throw new Error(`${module} is to be replaced, but does not exist: correct bench/without-books.ts`);

/** A checkout may be in a folder of this name too. */
const here = new URL('.', import.meta.url).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    const other = context.parentURL?.startsWith(here) === true ? undefined : replaced.get(resolved.url);
    return other === undefined ? resolved : { ...resolved, url: other };
  },
});
