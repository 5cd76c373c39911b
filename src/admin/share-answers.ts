type Answer = { readonly given: Promise<unknown>; readonly until: number };

/** The last answers of each source, by the question. */
const answers = new WeakMap<object, Map<string, Answer>>();

/**
 * Asks once for all who ask the same at about the same time. An answer is given again for as long as `keepMs` says, and
 * one that is still awaited always; a failure is given to those who wait for it, and to nobody after them.
 * @param giver the source of the answers, such as a store
 * @param question distinguishes everything that the answer depends on
 * @param keepMs how long an answer that took so long is given again, from its question on
 */
export async function shareAnswer<Value>(
  giver: object,
  question: string,
  ask: () => Promise<Value>,
  keepMs: (tookMs: number) => number,
): Promise<Value> {
  const known = answers.getOrInsertComputed(giver, () => new Map<string, Answer>());
  const askedMs = performance.now();
  for (const [other, { until }] of known) if (until <= askedMs) known.delete(other);
  const before = known.get(question);
  // The same question to the same giver has the same type of answer.
  if (before !== undefined) return (await before.given) as Value;
  const given = ask();
  const keep = (until: number): void => void known.set(question, { given, until });
  keep(Infinity);
  try {
    return await given;
  } finally {
    keep(askedMs + keepMs(performance.now() - askedMs));
    given.catch(() => known.delete(question));
  }
}
