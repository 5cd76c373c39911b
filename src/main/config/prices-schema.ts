import Type, { type Static } from 'typebox';

const factor = Type.String({
  pattern: '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,12})?$',
  description: 'Factor as a decimal string, for example "0.9".',
});

const path = (meaning: string) =>
  Type.String({ minLength: 1, description: `Path of a price book file in YAML or JSON, relative to the configuration file. ${meaning}` });

const ownPrices = Type.Object(
  {
    file: Type.Optional(path('docs/guide/prices.md says what is in it.')),
    mode: Type.Optional(
      Type.Enum(['merge', 'replace'], {
        default: 'merge',
        description:
          'merge: what the file says of a model takes the place of what the shipped book says of it; replace: the shipped book is not used.',
      }),
    ),
    unlisted: Type.Optional(
      Type.Enum(['free', 'refuse'], {
        default: 'free',
        description:
          'What becomes of calls whose model has no price, or none for what the call is charged by (tokens, characters, minutes of audio, seconds of video). free: they are booked at 0, and weir usage and the metric weir_unpriced_calls_total name them; refuse: they are answered with model_not_priced.',
      }),
    ),
    users: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 128 }), factor, {
        additionalProperties: false,
        description: 'Factors by the name of a user: all that the user is charged is multiplied by it.',
      }),
    ),
    keys: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 128 }), factor, {
        additionalProperties: false,
        description: 'Factors by the id of a key. It applies beside the factor of its user.',
      }),
    ),
    credits: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Type.String({ minLength: 1, maxLength: 32, default: 'credits', description: 'What the unit is called.' })),
          perUsd: Type.String({
            pattern: '^(0\\.[0-9]{0,11}[1-9]|[1-9][0-9]{0,8}(\\.[0-9]{1,12})?)$',
            description: 'How many of the unit are one USD, as a decimal string.',
          }),
        },
        { additionalProperties: false, description: 'A unit of your own in which amounts are shown beside USD. The books stay in USD.' },
      ),
    ),
  },
  { additionalProperties: false, description: 'Where prices come from, and whose differ.' },
);

/** `prices` of the configuration: settings, or the path of a price book alone, which then replaces the shipped one. */
export const pricesSchema = Type.Union([path('It replaces the shipped book.'), ownPrices], {
  description: 'Prices: the path of a price book file that replaces the shipped one, or settings.',
});

export type ConfiguredPrices = Static<typeof ownPrices>;

/** The settings, in whichever form they are written. */
export function pricesOf(prices: Static<typeof pricesSchema> | undefined): ConfiguredPrices {
  if (prices === undefined) return {};
  return typeof prices === 'string' ? { file: prices, mode: 'replace' } : prices;
}
