import { hash } from 'node:crypto';

import { parseName } from '../parse-name.ts';
import { AccountsError } from '../accounts-error.ts';

/** The claims of a token, as it was parsed. */
export type Claims = Readonly<Record<string, unknown>>;

/** A longer value of a claim makes no name. */
const valueCharactersMax = 1024;
const templatePattern = /^([^{}]*)(?:\{([^{}]+)\}([^{}]*))?$/;
/** The end of a name that was made from a value that is not a name itself. */
const digestLength = 16;
const digestPattern = new RegExp(`\\.[0-9a-f]{${digestLength}}$`);
const readableLength = 64 - digestLength - 1;

/** Whether a text is a template: fixed text with at most one claim in braces. */
export function isNameTemplate(text: string): boolean {
  return text !== '' && templatePattern.test(text);
}

/**
 * The claim of a name. The whole text is the name of a claim first, because names may be addresses; otherwise `/`
 * separates the members of nested claims. Undefined if there is none.
 */
export function readClaim(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const part of path.split('/')) {
    // A member may have slashes and dots itself, so the longest name is not tried: such claims are read from the top.
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/**
 * Makes the name of a user or key from a template such as `ci-{repository}`. Two different values never make the same
 * name: a value that is not a name as it stands is made readable and gets 64 bits of its hash at the end. Undefined if
 * the claim is missing, empty, too long, or neither text nor a whole number.
 */
export function nameFromClaims(template: string, claims: Claims): string | undefined {
  const [, before = '', path, after = ''] = templatePattern.exec(template) ?? [];
  if (path === undefined) return toName(before);
  const value = readClaim(claims, path);
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || text === '' || text.length > valueCharactersMax) return undefined;
  return toName(`${before}${text}${after}`);
}

function toName(text: string): string | undefined {
  if (!digestPattern.test(text) && isName(text)) return text;
  const digest = hash('sha256', text, 'hex').slice(0, digestLength);
  const readable = text
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}._@+-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '');
  const cut = Array.from(readable === '' ? 'x' : readable)
    .slice(0, readableLength)
    .join('');
  const name = `${cut}.${digest}`.normalize('NFC');
  return isName(name) ? name : undefined;
}

/** Whether a text is a name, and the only spelling of it. */
function isName(text: string): boolean {
  try {
    return parseName('name', text) === text;
  } catch (error) {
    if (error instanceof AccountsError) return false;
    throw error;
  }
}

/** Whether a token has all demanded claims: a text, or one entry of a list, matches a value, which may end in `*`. */
export function hasClaims(claims: Claims, demanded: Readonly<Record<string, readonly string[]>>): boolean {
  return Object.entries(demanded).every(([path, allowed]) => {
    const value = readClaim(claims, path);
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.some((one) => {
      const text = typeof one === 'number' || typeof one === 'boolean' ? String(one) : one;
      return typeof text === 'string' && allowed.some((pattern) => isMatch(pattern, text));
    });
  });
}

function isMatch(pattern: string, text: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}
