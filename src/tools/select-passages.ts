/** The text between passages that are not consecutive. */
const gap = '\n[…]\n';

/**
 * Selects the parts of a text that are most relevant to a query, in their order, with at most `charactersMax`
 * characters in total. The beginning is always included. A short text stays whole.
 */
export function selectPassages(text: string, queries: readonly string[], charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const passages = cutIntoPassages(text, Math.max(200, Math.floor(charactersMax / 4)));
  const terms = [...new Set(queries.flatMap(termsOf))];
  const ranked = passages
    .map((passage, place) => ({ place, score: place === 0 ? Number.POSITIVE_INFINITY : rate(passage, terms) }))
    .toSorted((one, other) => other.score - one.score || one.place - other.place);
  const chosen = new Set<number>();
  let left = charactersMax;
  for (const { place } of ranked) {
    const cost = (passages[place]?.length ?? 0) + gap.length;
    if (cost > left && chosen.size > 0) continue;
    chosen.add(place);
    left -= cost;
  }
  return join(passages, chosen).slice(0, charactersMax);
}

/** Cuts a text into whole paragraphs. Short ones are joined, long ones are split. */
function cutIntoPassages(text: string, charactersMax: number): readonly string[] {
  const passages: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    if (open.length + line.length + 1 > charactersMax && open !== '') {
      passages.push(open);
      open = '';
    }
    if (line.length <= charactersMax) open = open === '' ? line : `${open}\n${line}`;
    else for (let at = 0; at < line.length; at += charactersMax) passages.push(line.slice(at, at + charactersMax));
  }
  if (open !== '') passages.push(open);
  return passages;
}

/** Splits a query into words, or into pairs of characters in scripts without spaces between words. */
function termsOf(query: string): readonly string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word) && word.length > 2
      ? Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2))
      : word.length > 1
        ? [word]
        : [],
  );
}

/** Different terms count more than repetitions of one. */
function rate(passage: string, terms: readonly string[]): number {
  const text = passage.toLowerCase();
  return terms.reduce((sum, term) => sum + Math.log2(1 + Math.min(8, text.split(term).length - 1)), 0);
}

function join(passages: readonly string[], chosen: ReadonlySet<number>): string {
  let text = '';
  let last = -1;
  for (const [place, passage] of passages.entries()) {
    if (!chosen.has(place)) continue;
    text += place === 0 ? passage : `${place === last + 1 ? '\n' : gap}${passage}`;
    last = place;
  }
  return text;
}
