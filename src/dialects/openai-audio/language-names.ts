/** Languages for which Whisper's codes or names differ from the standards. Source: the tokenizer of openai/whisper. */
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

/** Made at its first use, because it loads the names of all languages. */
let names: Intl.DisplayNames | undefined;

/**
 * The English name of a language in lower case, which the vendor returns: `en`, `en-US`, `English` and `<|en|>` all
 * become `english`. Text that is not a language code is taken as a name.
 */
export function languageName(language: string): string {
  const text = language
    .trim()
    .toLowerCase()
    .replace(/^<\|(.+)\|>$/, '$1');
  const code = /^([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*$/.exec(text)?.[1];
  if (code === undefined) return text;
  if (Object.hasOwn(whisperNames, code)) return whisperNames[code] ?? text;
  return nameOfCode(code) ?? text;
}

function nameOfCode(code: string): string | undefined {
  try {
    names ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
    return names.of(code)?.toLowerCase();
  } catch {
    return undefined;
  }
}
