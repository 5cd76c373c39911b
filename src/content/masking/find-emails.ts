import type { Span } from './span.ts';

/** RFC 5321, section 4.5.3.1: a local part has at most 64 octets, and a domain 255. */
const localMax = 64;
const domainMax = 255;
const localCharacter = /[\p{L}\p{N}.!#$&'*+\-^_`{|}~]/u;
const domainPattern = /[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,12}/uy;
/** An at sign, also as it is in an address of the web or in HTML. */
const atSign = /@|%40|&#0?64;|&commat;|\uff20/gi;

/** Finds e-mail addresses: from each at sign to both sides. Linear, because both sides are bounded. */
export function findEmails(text: string): readonly Span[] {
  const spans: Span[] = [];
  for (const { index, 0: sign } of text.matchAll(atSign)) {
    let start = index;
    while (start > 0 && index - start < localMax && localCharacter.test(text.charAt(start - 1))) start -= 1;
    const from = index + sign.length;
    domainPattern.lastIndex = 0;
    const domain = domainPattern.exec(text.slice(from, from + domainMax))?.[0];
    if (start < index && domain !== undefined) spans.push({ start, end: from + domain.length, kind: 'email' });
  }
  return spans;
}
