import { type TObject, type TSchema, type TUnion, Type } from 'typebox';

/** A value or null: absent values are null in answers, never 0 and never left out. */
export const nullable = <Schema extends TSchema>(schema: Schema): TUnion<[Schema, ReturnType<typeof Type.Null>]> =>
  Type.Union([schema, Type.Null()]);

/** An object of an answer. Members may be added within `/api/v1`, so that clients ignore unknown ones. */
export const record = <Properties extends Record<string, TSchema>>(properties: Properties, description?: string): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false, ...(description === undefined ? {} : { description }) });

/** The body of a request. Unknown members are refused. */
export const request = <Properties extends Record<string, TSchema>>(properties: Properties): TObject<Properties> => record(properties);

/** An amount of money, as receipts write it. */
export const moneySchema = record(
  {
    nano_usd: Type.String({ pattern: '^-?\\d+$', description: 'Billionths of a US dollar.', examples: ['1224000'] }),
    usd: Type.String({ pattern: '^-?\\d+(\\.\\d+)?$', description: 'The same in US dollars.', examples: ['0.001224'] }),
  },
  'An exact amount of money.',
);

/** RFC 3339, in any zone. */
export const instantPattern =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,3})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$';

/** An amount of USD, with at most nine decimals. */
export const usdPattern = '^(?:0|[1-9][0-9]{0,8})(?:\\.[0-9]{1,9})?$';

/** A query parameter that is a time. @param description what the time is for */
export const instantQuery = (description: string) =>
  Type.String({
    pattern: instantPattern,
    description: `An instant such as 2026-11-26T00:00:00Z. ${description}`,
  });

/** A time in Unix milliseconds as an instant. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

export function optionalInstant(ms: number | undefined): string | null {
  return ms === undefined ? null : instant(ms);
}

/** The limit and the position of a list. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'The most entries of a page; 50 unless given.' })),
  cursor: Type.Optional(Type.String({ maxLength: 1024, description: 'The `next_cursor` of the page before.' })),
};
export const pageRowsDefault = 50;

/** One page of a list, newest first. */
export const pageSchema = <Item extends TSchema>(item: Item) =>
  record({
    items: Type.Array(item),
    next_cursor: nullable(Type.String({ description: 'The `cursor` of the next page; null on the last one.' })),
    as_of: Type.String({ description: 'When the list was read.' }),
  });
