import { isRecord } from './read-json.ts';
import type { Json, JsonRecord } from './simulated-vendor.ts';
import type { UsageOverride } from './steering.ts';
import type { Piece } from './wire-reply.ts';

const usageMembers = ['usage', 'usageMetadata'] as const;
const mention = /"usage(?:Metadata)?"/;
/** A usage with content; opening frames with `"usage":null` have none. */
const report = /"usage(?:Metadata)?": ?\{/;

/**
 * Rewrites the usage objects of a reply as a caller requested, anywhere in the vendor's format. Members have the
 * vendor's names, inner ones with dots (`prompt_tokens_details.cached_tokens`). The words `absent`, `zero`, `negative`,
 * `string` and `huge` describe a replacement; numbers, null and other strings are written unchanged. The framing around
 * the JSON stays the same.
 */
export function rewriteUsage(pieces: readonly Piece[], override: UsageOverride | 'absent' | 'null'): Piece[] {
  return pieces.map((piece) => {
    if (typeof piece !== 'string' || !mention.test(piece)) return piece;
    const start = piece.indexOf('{');
    const end = piece.lastIndexOf('}') + 1;
    const json = parseRecord(piece.slice(start, end));
    if (json === undefined) return piece;
    rewriteIn(json, override);
    // Some vendors write whole replies indented.
    const indent = piece[start + 1] === '\n' ? 2 : 0;
    return piece.slice(0, start) + JSON.stringify(json, null, indent) + piece.slice(end);
  });
}

/**
 * The usage that the first `count` pieces reported, merged member by member as a reader of the stream would: later
 * values win. Undefined if they reported none.
 */
export function readReportedUsage(pieces: readonly Piece[], count: number): JsonRecord | undefined {
  const first = findReport(pieces, 0, count, 1);
  if (first === undefined) return undefined;
  const last = findReport(pieces, count - 1, first.index, -1);
  return last === undefined ? first.usage : { ...first.usage, ...last.usage };
}

function findReport(pieces: readonly Piece[], from: number, to: number, step: 1 | -1): { index: number; usage: JsonRecord } | undefined {
  for (let index = from; index !== to; index += step) {
    const piece = pieces[index];
    if (typeof piece !== 'string' || !report.test(piece)) continue;
    const json = parseRecord(piece.slice(piece.indexOf('{'), piece.lastIndexOf('}') + 1));
    const usage = json === undefined ? undefined : findUsage(json);
    if (usage !== undefined) return { index, usage };
  }
  return undefined;
}

function findUsage(json: JsonRecord): JsonRecord | undefined {
  for (const member of usageMembers) {
    const usage = json[member];
    if (isRecord(usage)) return usage;
  }
  for (const wrapper of ['message', 'response', 'delta'] as const) {
    const inner = json[wrapper];
    const usage = isRecord(inner) ? findUsage(inner) : undefined;
    if (usage !== undefined) return usage;
  }
  return undefined;
}

function rewriteIn(json: JsonRecord, override: UsageOverride | 'absent' | 'null'): void {
  for (const member of usageMembers) {
    const usage = json[member];
    if (!isRecord(usage)) continue;
    if (override === 'absent') delete json[member];
    else if (override === 'null') json[member] = null;
    else for (const [path, replacement] of Object.entries(override)) replaceAt(usage, path.split('.'), replacement);
  }
  for (const wrapper of ['message', 'response', 'delta'] as const) {
    const inner = json[wrapper];
    if (isRecord(inner)) rewriteIn(inner, override);
  }
}

function replaceAt(usage: JsonRecord, path: readonly string[], replacement: string | number | null): void {
  let holder = usage;
  for (const name of path.slice(0, -1)) {
    const inner = holder[name];
    if (!isRecord(inner)) return;
    holder = inner;
  }
  const name = path.at(-1) ?? '';
  const known = holder[name];
  // A stream reports members in several events; an event without the member must not get it. A number is set wherever
  // requested.
  if (known === undefined && typeof replacement === 'string') return;
  const value = describeReplacement(known, replacement);
  if (value === undefined) delete holder[name];
  else holder[name] = value;
}

function describeReplacement(known: Json | undefined, replacement: string | number | null): Json | undefined {
  const count = typeof known === 'number' ? known : 0;
  switch (replacement ?? 'null') {
    case 'absent':
      return undefined;
    case 'zero':
      return 0;
    case 'negative':
      return -Math.max(1, count);
    case 'string':
      return String(count);
    case 'huge':
      return 1e308;
    default:
      return replacement;
  }
}

function parseRecord(text: string): JsonRecord | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isRecord(value) ? value : undefined;
  } catch {
    // Pieces that a fault damaged have no readable usage.
    return undefined;
  }
}
