import type { EncodedRequest } from '../../../src/dialects/chat-codec.ts';
import type { ChatDialect } from '../../../src/dialects/chat-dialect.ts';
import { GatewayError } from '../../../src/inference/gateway-error.ts';
import type { ModelTraits } from '../../../src/inference/model-traits.ts';
import { createTranslationNotes, type TranslationNote } from '../../../src/inference/translation-notes.ts';
import type { JsonObject } from '../../../src/platform/json/json-value.ts';

/** An upstream that a request is written for. */
export type Route = {
  readonly client: ChatDialect;
  readonly upstream: ChatDialect;
  readonly upstreamModel: string;
  readonly traits: ModelTraits;
};

/** A field of a request: the request with it, and without it or with another value of it. */
export type FieldCase = {
  readonly path: string;
  readonly with: JsonObject;
  readonly without: JsonObject;
  readonly marker?: string;
  readonly isReplaced?: boolean;
};

/** The result of translating a field. `lost` must never occur. */
export type Outcome = 'carried' | 'adapted' | 'named' | 'refused' | 'lost';

type Written =
  | { readonly kind: 'written'; readonly encoded: EncodedRequest; readonly notes: readonly TranslationNote[] }
  | { readonly kind: 'refused'; readonly error: GatewayError };

function write({ client, upstream, upstreamModel, traits }: Route, body: JsonObject, strict: boolean): Written {
  const notes = createTranslationNotes(client.codec.fieldNames, strict);
  const isStream = body['stream'] === true;
  const framing = isStream ? ({ pathFraming: 'sse' } as const) : {};
  try {
    const decoded = client.codec.decodeRequest({ operation: 'generate', body, headers: {}, pathModel: 'm', ...framing });
    const encoded = upstream.codec.encodeRequest(decoded, { upstreamModel, traits, proofOrigin: `${upstream.id} vendor`, notes });
    return { kind: 'written', encoded, notes: notes.list() };
  } catch (error) {
    if (error instanceof GatewayError) return { kind: 'refused', error };
    throw error;
  }
}

/** A path in either spelling, without list indices: `messages.content.cache_control`. */
const plain = (path: string): string => path.replaceAll(/\[\d*\]|\.\d+(?=\.|$)/g, '');

/** Whether one path contains the other, so that a note about one is about the other. */
function isAbout(told: string, field: string, aliases: Readonly<Record<string, string>>): boolean {
  const [one, two] = [plain(told), plain(aliases[field] ?? field)];
  return one === two || two.startsWith(`${one}.`) || one.startsWith(`${two}.`);
}

/** Whether one path contains the other, and is not the list of the whole conversation. */
function holds(told: string, field: string): boolean {
  return plain(field).startsWith(`${plain(told)}.`) && !['messages', 'input', 'contents', 'tools'].includes(told);
}

const keyOf = ({ kind, field, reason }: TranslationNote): string => `${kind} ${field} ${reason}`;

/** The part that is sent, and the part that the gateway does itself. */
const sentAs = ({ body, cutAt, answerTool }: EncodedRequest): string => JSON.stringify({ body, cutAt, answerTool });

export type Judgement = { readonly outcome: Outcome; readonly why?: string };

/**
 * The result of translating a field on a route. `aliases` maps a field to the name that its note uses, if that differs.
 */
export function judge(route: Route, field: FieldCase, aliases: Readonly<Record<string, string>>): Judgement {
  const told = (name: string | undefined): boolean => name !== undefined && isAbout(name, field.path, aliases);
  const written = write(route, field.with, false);
  if (written.kind === 'refused') {
    if (told(written.error.param)) return { outcome: 'refused' };
    return { outcome: 'lost', why: `refused, but of ${written.error.param}: ${written.error.message}` };
  }
  const before = write(route, field.without, false);
  // If the field is in both, it is named in both.
  const known = new Set(before.kind === 'written' && field.isReplaced !== true ? before.notes.map(keyOf) : []);
  const added = written.notes.filter((note) => !known.has(keyOf(note)));
  // An object that is omitted with and without the field is omitted together with the field.
  const about = written.notes.filter((note) => told(note.field) && (added.includes(note) || holds(note.field, field.path)));
  if (about.some(({ kind }) => kind === 'dropped')) {
    const strictly = write(route, field.with, true);
    if (strictly.kind === 'refused' && (told(strictly.error.param) || about.some((note) => note.field === strictly.error.param)))
      return { outcome: 'named' };
    // It refuses the first problem, which may be around the field.
    const context = write(route, field.without, true);
    if (strictly.kind === 'refused' && context.kind === 'refused' && context.error.param === strictly.error.param)
      return { outcome: 'named' };
    return { outcome: 'lost', why: 'dropped, and strict translation does not refuse it' };
  }
  if (about.length > 0) return { outcome: 'adapted' };
  const isChanged = before.kind === 'refused' || sentAs(written.encoded) !== sentAs(before.encoded);
  if (!isChanged)
    return {
      outcome: 'lost',
      why: `the result is the same without it${added.length > 0 ? `, noted: ${added.map(keyOf).join('; ')}` : ''}`,
    };
  if (field.marker !== undefined && !sentAs(written.encoded).includes(JSON.stringify(field.marker).slice(1, -1)))
    return { outcome: 'lost', why: `its value ${field.marker} is nowhere in ${sentAs(written.encoded)}` };
  return { outcome: 'carried' };
}
