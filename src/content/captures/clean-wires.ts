import { isUtf8 } from 'node:buffer';

import { compileHeaderList } from '../../platform/http/header-list.ts';
import { maskCredentials } from '../masking/mask-text.ts';
import { type RawWire, type RawWires, type Wire, type Wires, wireNames } from './wires.ts';

const notKept = '(not kept)';

/**
 * Headers whose values are shown. All others have their name only: a list of headers that may have a credential could
 * never be complete.
 */
const shown = compileHeaderList([
  'accept',
  'accept-encoding',
  'accept-language',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  'anthropic-ratelimit-*',
  'anthropic-version',
  'cache-control',
  'cf-ray',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'expect',
  'host',
  'idempotency-key',
  'openai-beta',
  'openai-processing-ms',
  'openai-version',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server',
  'traceparent',
  'transfer-encoding',
  'user-agent',
  'via',
  'x-gateway-warning',
  'x-ratelimit-*',
  'x-request-id',
  'x-should-retry',
  'x-stainless-*',
  'x-weir-*',
]);

/** Shorter texts are not credentials, and removing them would damage others. */
const credentialCharactersMin = 8;

/**
 * Removes credentials from wires: the values of headers that are not known to be harmless, parameters of paths that
 * carry keys, the given credentials wherever they are, and everything that has the form of one. Takes linear time.
 */
export function cleanWires(raw: RawWires, credentials: readonly string[]): Wires {
  const known = credentials.filter(({ length }) => length >= credentialCharactersMin);
  const scrub = (text: string): string => maskCredentials(known.reduce((rest, each) => rest.replaceAll(each, '[credential]'), text));
  return Object.fromEntries(
    wireNames.flatMap((name) => {
      const wire = raw[name];
      return wire === undefined ? [] : [[name, cleanWire(wire, scrub)] as const];
    }),
  );
}

function cleanWire({ start, headers, body }: RawWire, scrub: (text: string) => string): Wire {
  const bytes = Buffer.from(body?.bytes ?? []);
  const isCut = body !== undefined && body.bytesTotal > bytes.length;
  const isText = isUtf8(isCut ? withoutCutCharacter(bytes) : bytes);
  return {
    start: scrub(start.replaceAll(/([?&](?:key|api[_-]?key|access_token|token|sig|signature|x-amz-[a-z-]+)=)[^&#]*/gi, `$1${notKept}`)),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), shown(name.toLowerCase()) ? scrub(value) : notKept]),
    ),
    body: isText ? scrub(bytes.toString('utf8')) : bytes.toString('base64'),
    encoding: isText ? 'text' : 'base64',
    body_bytes: body?.bytesTotal ?? 0,
    is_cut: isCut,
  };
}

/** A text that was cut may end within a character. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let end = bytes.length; end > Math.max(0, bytes.length - 4); end -= 1) {
    const part = bytes.subarray(0, end);
    if (isUtf8(part)) return part;
  }
  return bytes;
}
