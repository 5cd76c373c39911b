/** One way in which a value does not fit its schema. */
export type SchemaProblem = {
  /**
   * The path from the root: `['messages', 0, 'content']`. For `required` and `unknown-field` it ends with that field.
   * Keys that the schema does not name are abbreviated to 64 characters.
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
   * The right value. For numeric rules it is the bound, for `enum` the allowed values, for `type` and `required` JSON
   * type names. If a missing field decides the variant, it is the allowed values of that field. For `pattern` it is the
   * expression or the name of the format, for `unknown-field` the known fields, for `refine` its own message, for
   * `no-variant` a description of the variants.
   */
  readonly expected: string | number | readonly (string | number)[];
  /**
   * The wrong value in a short, safe form. For `type` it is the received JSON type (`integer`, `number`, `infinity`,
   * `string`, ...), for lengths, items and properties the count. Otherwise it is a primitive itself (at most 64
   * characters), or the type of an array or object. Absent for `required`.
   */
  readonly actual?: string | number | boolean | null;
};
