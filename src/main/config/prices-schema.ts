import Type, { type Static } from 'typebox';

const factor = Type.String({
  pattern: '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,12})?$',
  description: 'Factor as a decimal string, for example "0.9".',
});

const path = (meaning: string) =>
  Type.String({ minLength: 1, description: `Path of a price book file in YAML or JSON, relative to the configuration file. ${meaning}` });

const ownPrices = Type.Object(
  {
    file: Type.Optional(path('docs/guide/prices.md describes its content.')),
    mode: Type.Optional(
      Type.Enum(['merge', 'replace'], {
        default: 'merge',
        description: 'merge: the entries of a model in the file replace those in the shipped book; replace: the shipped book is not used.',
      }),
    ),
    unlisted: Type.Optional(
      Type.Enum(['free', 'refuse'], {
        default: 'free',
        description:
          'How calls are treated whose model has no price, or no price for their unit (tokens, characters, minutes of audio, seconds of video). free: they are booked at 0, and weir usage and the metric weir_unpriced_calls_total name them; refuse: they are answered with model_not_priced.',
      }),
    ),
    users: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 128 }), factor, {
        additionalProperties: false,
        description: 'Factors by the name of a user. All charges of the user are multiplied by the factor.',
      }),
    ),
    keys: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 128 }), factor, {
        additionalProperties: false,
        description: 'Factors by the id of a key. They apply together with the factor of the user.',
      }),
    ),
    credits: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ minLength: 1, maxLength: 32, default: 'credits', description: 'Name of the unit.' })),
          perUsd: Type.String({
            pattern: '^(0\\.[0-9]{0,11}[1-9]|[1-9][0-9]{0,8}(\\.[0-9]{1,12})?)$',
            description: 'Number of units for one USD, as a decimal string.',
          }),
        },
        { additionalProperties: false, description: 'A custom unit in which amounts are shown besides USD. The books stay in USD.' },
      ),
    ),
  },
  { additionalProperties: false, description: 'The price book file, factors and units.' },
);

/** `prices` of the configuration: settings, or only the path of a price book, which replaces the shipped one. */
export const pricesSchema = Type.Union([path('It replaces the shipped book.'), ownPrices], {
  description: 'Prices: the path of a price book file that replaces the shipped one, or settings.',
});

export type ConfiguredPrices = Static<typeof ownPrices>;

/** The settings, from either form. */
export function pricesOf(prices: Static<typeof pricesSchema> | undefined): ConfiguredPrices {
  if (prices === undefined) return {};
  return typeof prices === 'string' ? { file: prices, mode: 'replace' } : prices;
}
