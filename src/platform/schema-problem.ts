/** One way in which a value does not fit its schema. */
export type SchemaProblem = {
  /** Where, from the root: `['messages', 0, 'content']`. */
  readonly path: readonly (string | number)[];
  readonly rule:
    | 'required'
    | 'type'
    | 'enum'
    | 'minimum'
    | 'maximum'
    | 'exclusive-minimum'
    | 'exclusive-maximum'
    | 'min-length'
    | 'max-length'
    | 'min-items'
    | 'max-items'
    | 'pattern'
    | 'max-properties'
    | 'unknown-field'
    | 'no-variant';
  /** What would be right: the bound, the allowed values, the type names, the pattern. */
  readonly expected: string | number | readonly (string | number)[];
  /** The offending value in short, safe form: its JSON type, number or at most 64 characters of a string. Absent for `required`. */
  readonly actual?: string | number | boolean | null;
};
