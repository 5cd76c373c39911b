import { GatewayError } from './gateway-error.ts';

/** A setting of a request that has a neutral name. Each dialect has its own spelling for it. */
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

/** How a dialect spells the neutral fields. Undefined: it has no such field. */
export type FieldNames = Readonly<Record<NeutralField, string | undefined>>;

/**
 * `adapted`: sent with another value or in another place. `emulated`: the gateway does it because the upstream cannot.
 * `dropped`: left out. `unchecked`: nobody has checked that the reply follows it.
 */
export type TranslationNote = {
  readonly kind: 'adapted' | 'emulated' | 'dropped' | 'unchecked';
  readonly field: string;
  readonly reason: string;
};

type Notes<Field> = {
  readonly adapted: (field: Field, reason: string) => void;
  readonly emulated: (field: Field, reason: string) => void;
  /** Throws `untranslatable_field` if the client requested strict translation. */
  readonly dropped: (field: Field, reason: string) => void;
  /** For content that must not be left out. Always throws `untranslatable_field`. */
  readonly refuse: (field: Field, reason: string) => never;
  readonly list: () => readonly TranslationNote[];
};

/** Collects the changes of a translation. The client receives them, and the record of the call contains them. */
export type TranslationNotes = Notes<NotedField>;

/** The same for an interface that is not a chat: fields have the names of its clients. */
export type FieldNotes = Notes<string>;

/** A neutral field, or the path of a part or of a vendor's field as the client wrote it. */
type NotedField = NeutralField | { readonly path: string | undefined; readonly otherwise: NeutralField };

/** Further notes are counted and not stored, because a long history may repeat a loss a thousand times. */
const notesMax = 32;

/** Collects the notes of one call. `strict` refuses every drop. Each field is named once per kind. */
export function createTranslationNotes(fieldNames: FieldNames, strict: boolean): TranslationNotes {
  return collectNotes((field) => {
    if (typeof field === 'string') return fieldNames[field] ?? field;
    return field.path ?? fieldNames[field.otherwise] ?? field.otherwise;
  }, strict);
}

/** Collects the notes of one call of an interface that is not a chat. */
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
      if (strict)
        refuse(field, `${reason}, and strict translation was requested: leave it out, or choose a model whose vendor supports it`);
      note('dropped', field, reason);
    },
    refuse,
    list: () => [...notes.values()],
  };
}
