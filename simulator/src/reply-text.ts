import type { SeededRandom } from './seeded-random.ts';

// Sentences with letters of two, three and four bytes, so that cuts inside a character occur in every longer reply.
const sentences = [
  'Nothing here was thought by a model.',
  'The café at the corner of the page is closed, naïvely speaking.',
  'In the simulated world (世界) every river flows at the pace it was given.',
  'A weir measures the water and lets it pass.',
  'Numbers in this text mean nothing, for example 42 or 3.14.',
  'The seed decides each word, so asking again gives the same words. 😀',
  'Línea por línea, the same prompt gives the same reply.',
  'Über den Fluss führt eine Brücke, and the ferry waits below it.',
  'Tokens are counted by the rule of four characters each.',
  'これは模擬の返答です, that is to say: this is an imitation.',
  'Here is a list: first a stone, then a leaf, then a feather. 🪶',
  'Quotes "like these" and a backslash \\ have to survive the wire.',
  'Some sentences\nbreak across lines.',
  'Ελπίζω this finds every decoder well.',
  'The end of the stream is marked as the vendor marks it.',
  'Привет from the test bench. 🚰',
] as const;

const quoteCharacters = 60;

/**
 * The text of a simulated reply: says that it is simulated, mentions the last user text, and continues to the end of a
 * sentence after at least `charactersMin` characters.
 */
export function writeReplyText(model: string, lastUserText: string, charactersMin: number, random: SeededRandom): string {
  let text = `This is a simulated reply from ${model}.`;
  const quote = quoteUser(lastUserText);
  if (quote !== '') text += ` You wrote: “${quote}”.`;
  const parts = [text];
  let length = text.length;
  while (length < charactersMin) {
    const sentence = sentences[random.below(sentences.length)] ?? sentences[0];
    parts.push(sentence);
    length += sentence.length + 1;
  }
  return parts.join(' ');
}

/** The text of simulated reasoning. */
export function writeReasoningText(lastUserText: string, charactersMin: number, random: SeededRandom): string {
  const parts = [`This is simulated reasoning about “${quoteUser(lastUserText)}”.`];
  let length = parts[0]?.length ?? 0;
  while (length < charactersMin) {
    const sentence = sentences[random.below(sentences.length)] ?? sentences[0];
    parts.push(sentence);
    length += sentence.length + 1;
  }
  return parts.join(' ');
}

/** One line of at most 60 characters of the user's text, cut between characters. */
function quoteUser(text: string): string {
  const line = text
    .slice(0, quoteCharacters * 4)
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  const characters = Array.from(line);
  return characters.length <= quoteCharacters ? line : `${characters.slice(0, quoteCharacters).join('')}…`;
}
