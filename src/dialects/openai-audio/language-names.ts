/** Languages that Whisper knows by other codes or names than the standards: tokenizer of openai/whisper. */
const whisperNames: Readonly<Record<string, string>> = {
  jw: 'javanese',
  no: 'norwegian',
  nn: 'nynorsk',
  tl: 'tagalog',
  my: 'myanmar',
  ht: 'haitian creole',
  mi: 'maori',
  iw: 'hebrew',
};

const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/**
 * The lower-case English name of a language, which is what the vendor answers with: `en`, `en-US`, `English` and `<|en|>` are all `english`. What is no code
 * of a language is taken for its name.
 */
export function languageName(language: string): string {
  const word = language
    .trim()
    .toLowerCase()
    .replace(/^<\|(.+)\|>$/, '$1');
  const code = /^([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*$/.exec(word)?.[1];
  if (code === undefined) return word;
  if (Object.hasOwn(whisperNames, code)) return whisperNames[code] ?? word;
  return nameOfCode(code) ?? word;
}

function nameOfCode(code: string): string | undefined {
  try {
    return names.of(code)?.toLowerCase();
  } catch {
    return undefined;
  }
}
