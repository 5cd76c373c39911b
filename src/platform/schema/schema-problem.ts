/** One way in which a value does not fit its schema. */
export type SchemaProblem = {
  /**
   * Where, from the root: `['messages', 0, 'content']`. For `required` and `unknown-field` it ends with the missing or surplus field.
   * Keys that the schema does not name come from the value and are cut to 64 characters.
   */
  readonly path: readonly (string | number)[];
  readonly rule:
    | 'required'
    | 'type'
    | 'enum'
    | 'minimum'
    | 'maximum'
    | 'exclusive-minimum'
    | 'exclusive-maximum'
    | 'multiple-of'
    | 'min-length'
    | 'max-length'
    | 'min-items'
    | 'max-items'
    | 'unique-items'
    | 'pattern'
    | 'min-properties'
    | 'max-properties'
    | 'unknown-field'
    | 'refine'
    | 'no-variant';
  /**
   * What would be right. The bound for numeric rules; the allowed values for `enum`; JSON type names for `type` and `required`
   * (the allowed values, where a missing field tells the variants apart); the expression or format name for `pattern`;
   * the known fields for `unknown-field`; the refinement's own message for `refine`; what the variants are for `no-variant`.
   */
  readonly expected: string | number | readonly (string | number)[];
  /**
   * The offending value in short, safe form. For `type` the JSON type that came (`integer`, `number`, `infinity`, `string`, ...);
   * for lengths, items and properties the count; otherwise a primitive itself (at most 64 characters of a string) or the type of an
   * array or object. Absent for `required`.
   */
  readonly actual?: string | number | boolean | null;
};
