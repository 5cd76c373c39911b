import type { Span } from './span.ts';

/**
 * Tokens that are known by their beginning. Every repetition is bounded, and a match begins at a fixed prefix or behind
 * a character that the token cannot contain, so that the time is linear.
 */
const prefixed: readonly RegExp[] = [
  // Keys of this gateway, of OpenAI, Anthropic, OpenRouter, Stripe and others.
  /\b(?:sk|pk|rk|ak|gsk|xai|hf|r8|nvapi|pplx|whsec|glpat|dop_v1|sq0[a-z]{3})[-_][A-Za-z0-9_-]{16,1024}/g,
  // GitHub: https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
  /\b(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{20,255}/g,
  /\bxox[a-z]-[A-Za-z0-9-]{10,255}/g,
  /\bxapp-[A-Za-z0-9-]{10,255}/g,
  // Google: an API key, and an access token.
  /\bAIza[A-Za-z0-9_-]{30,60}/g,
  /\bya29\.[A-Za-z0-9_.-]{20,2048}/g,
  // Amazon: the id of an access key.
  /\b(?:AKIA|ASIA|ABSK|AGPA|AROA|AIDA)[A-Z0-9]{12,128}\b/g,
  /\bnpm_[A-Za-z0-9]{30,64}/g,
  /\bpypi-[A-Za-z0-9_-]{50,512}/g,
  // A JSON Web Token: RFC 7519.
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,8192}\.[A-Za-z0-9_-]{6,16384}(?:\.[A-Za-z0-9_-]{0,8192})?/g,
];

/** A name of a credential, and after it its value, which is group 1. */
const named: readonly RegExp[] = [
  /\b(?:bearer|basic)[ \t]{1,4}([A-Za-z0-9._~+/=-]{12,4096})/gi,
  // The name may be the end of a longer one, such as DB_PASSWORD.
  /(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret|private[_-]?key|credential|kennwort|passwort)["'`]?[ \t]{0,4}(?::=|=>|[:=])[ \t]{0,4}(?:"([^"\r\n]{1,512})"|'([^'\r\n]{1,512})'|([^\s"'`,;&)}\]]{4,512}))/gi,
  // A password in an address.
  /:\/\/[^\s/:@"'<>]{0,128}:([^\s/@"'<>]{1,256})@/g,
];

const pemBegin = /-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----/g;

/** Finds keys, tokens and passwords. Linear in the length of the text. */
export function findCredentials(text: string): readonly Span[] {
  const spans: Span[] = [...findPrivateKeys(text)];
  for (const pattern of prefixed)
    for (const match of text.matchAll(pattern)) spans.push({ start: match.index, end: match.index + match[0].length, kind: 'credential' });
  for (const pattern of named) {
    for (const match of text.matchAll(pattern)) {
      const value = match.slice(1).find((group) => group !== undefined) ?? '';
      const start = match.index + match[0].lastIndexOf(value);
      if (!isMark(value)) spans.push({ start, end: start + value.length, kind: 'credential' });
    }
  }
  return spans;
}

/** Whether a value was masked before. */
function isMark(value: string): boolean {
  return /^\[[a-z0-9-]{1,40}\]?$/.test(value);
}

/** A private key without its end, for example of a text that was cut, ends with the text. */
function* findPrivateKeys(text: string): Generator<Span> {
  let covered = 0;
  for (const { index, 0: head } of text.matchAll(pemBegin)) {
    if (index < covered) continue;
    const foot = text.indexOf('-----END', index + head.length);
    const close = foot === -1 ? -1 : text.indexOf('-----', foot + '-----END'.length);
    covered = close === -1 ? text.length : close + '-----'.length;
    yield { start: index, end: covered, kind: 'credential' };
  }
}
