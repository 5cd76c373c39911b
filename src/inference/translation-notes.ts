import { GatewayError } from './gateway-error.ts';

/** A setting of a request that has a neutral name; each dialect says how its clients spell it. */
type NeutralField =
  | 'instructions'
  | 'tools'
  | 'toolChoice'
  | 'parallelToolCalls'
  | 'outputTokensMax'
  | 'stopSequences'
  | 'outputFormat'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'reasoning'
  | 'endUser'
  | 'serviceTier'
  | 'verbosity'
  | 'turns';

/** How a dialect's clients spell the neutral fields; undefined where they have no such field. */
export type FieldNames = Readonly<Record<NeutralField, string | undefined>>;

/**
 * `adapted`: carried with another value or in another place than the client wrote; `emulated`: the gateway does it because the upstream
 * cannot; `dropped`: left out; `unchecked`: nobody has checked that the reply keeps to it.
 */
export type TranslationNote = {
  readonly kind: 'adapted' | 'emulated' | 'dropped' | 'unchecked';
  readonly field: string;
  readonly reason: string;
};

/** Collects what a translation did besides carrying everything over. The client is told, and the call's record keeps it. */
export type TranslationNotes = {
  readonly adapted: (field: NotedField, reason: string) => void;
  readonly emulated: (field: NotedField, reason: string) => void;
  /** Throws `untranslatable_field` where the client asked for strict translation. */
  readonly dropped: (field: NotedField, reason: string) => void;
  /** For what cannot be left out either. Always throws `untranslatable_field`. */
  readonly refuse: (field: NotedField, reason: string) => never;
  readonly list: () => readonly TranslationNote[];
};

/** A neutral field, or the path of a part or a vendor's field as the client wrote it. */
type NotedField = NeutralField | { readonly path: string | undefined; readonly otherwise: NeutralField };

/** More notes than this are counted and not kept: a long history may repeat one loss a thousand times. */
const notesMax = 32;

/** Notes of one call. `strict` refuses every drop. Each field is named once per kind. */
export function createTranslationNotes(fieldNames: FieldNames, strict: boolean): TranslationNotes {
  const notes = new Map<string, TranslationNote>();
  const name = (field: NotedField): string => {
    if (typeof field === 'string') return fieldNames[field] ?? field;
    return field.path ?? fieldNames[field.otherwise] ?? field.otherwise;
  };
  const note = (kind: TranslationNote['kind'], field: NotedField, reason: string): void => {
    const named = name(field);
    const key = `${kind} ${named}`;
    if (notes.size < notesMax && !notes.has(key)) notes.set(key, { kind, field: named, reason });
  };
  const refuse = (field: NotedField, reason: string): never => {
    const param = name(field);
    throw new GatewayError('untranslatable_field', `${param}: ${reason}`, { param });
  };
  return {
    adapted: (field, reason) => note('adapted', field, reason),
    emulated: (field, reason) => note('emulated', field, reason),
    dropped: (field, reason) => {
      if (strict) refuse(field, `${reason}, and strict translation was asked for: leave it out, or choose a model whose vendor has it`);
      note('dropped', field, reason);
    },
    refuse,
    list: () => [...notes.values()],
  };
}
