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

type Notes<Field> = {
  readonly adapted: (field: Field, reason: string) => void;
  readonly emulated: (field: Field, reason: string) => void;
  /** Throws `untranslatable_field` where the client asked for strict translation. */
  readonly dropped: (field: Field, reason: string) => void;
  /** For what cannot be left out either. Always throws `untranslatable_field`. */
  readonly refuse: (field: Field, reason: string) => never;
  readonly list: () => readonly TranslationNote[];
};

/** Collects what a translation did besides carrying everything over. The client is told, and the call's record keeps it. */
export type TranslationNotes = Notes<NotedField>;

/** The same for an interface that is no chat: fields are named as its clients write them. */
export type FieldNotes = Notes<string>;

/** A neutral field, or the path of a part or a vendor's field as the client wrote it. */
type NotedField = NeutralField | { readonly path: string | undefined; readonly otherwise: NeutralField };

/** More notes than this are counted and not kept: a long history may repeat one loss a thousand times. */
const notesMax = 32;

/** Notes of one call. `strict` refuses every drop. Each field is named once per kind. */
export function createTranslationNotes(fieldNames: FieldNames, strict: boolean): TranslationNotes {
  return collectNotes((field) => {
    if (typeof field === 'string') return fieldNames[field] ?? field;
    return field.path ?? fieldNames[field.otherwise] ?? field.otherwise;
  }, strict);
}

/** Notes of one call of an interface that is no chat. */
export function createFieldNotes(strict: boolean): FieldNotes {
  return collectNotes((field) => field, strict);
}

function collectNotes<Field>(name: (field: Field) => string, strict: boolean): Notes<Field> {
  const notes = new Map<string, TranslationNote>();
  const note = (kind: TranslationNote['kind'], field: Field, reason: string): void => {
    const named = name(field);
    const key = `${kind} ${named}`;
    if (notes.size < notesMax && !notes.has(key)) notes.set(key, { kind, field: named, reason });
  };
  const refuse = (field: Field, reason: string): never => {
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
