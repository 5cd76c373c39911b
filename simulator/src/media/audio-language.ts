const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/**
 * The lower-case English name of a language by its code of two or three letters (`de`, `deu`); undefined for any other
 * text.
 */
export function nameOfLanguage(code: string): string | undefined {
  return /^[a-z]{2,3}$/.test(code) ? names.of(code)?.toLowerCase() : undefined;
}

/** The two-letter code for a language's English name, or undefined. */
export function codeOfLanguage(name: string): string | undefined {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  for (const first of letters) {
    for (const second of letters) {
      if (nameOfLanguage(first + second) === name) return first + second;
    }
  }
  return undefined;
}
