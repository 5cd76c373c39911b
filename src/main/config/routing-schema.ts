import Type, { type Static } from 'typebox';
import { dialectIds } from '../../dialects/registry.ts';

const flag = (what: string) => Type.Optional(Type.Boolean({ description: `true: only calls with ${what}; false: only calls without.` }));

const tokens = (bound: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000_000,
      description: `Only calls with ${bound} this number of input tokens, estimated from the text of the request. Media and output do not count.`,
    }),
  );

/** `when` of a target. */
const conditionsSchema = Type.Object(
  {
    dialects: Type.Optional(
      Type.Array(Type.Enum([...dialectIds]), { minItems: 1, uniqueItems: true, description: 'Only calls through these interfaces.' }),
    ),
    images: flag('images or video'),
    documents: flag('documents'),
    audio: flag('audio in the request or in the reply'),
    tools: flag('tools'),
    stream: Type.Optional(Type.Boolean({ description: 'true: only calls for a stream; false: only calls for a whole reply.' })),
    inputTokensMin: tokens('at least'),
    inputTokensMax: tokens('at most'),
  },
  { additionalProperties: false, minProperties: 1, description: 'Conditions. The target receives only calls that meet all of them.' },
);

/** The members of `when`. */
export const conditionNames: readonly string[] = Object.keys(conditionsSchema.properties);

const milliseconds = (meaning: string) =>
  Type.Optional(Type.Integer({ minimum: 10, maximum: 86_400_000, description: `${meaning}, in milliseconds.` }));

/** Timeouts that may differ from model to model and from target to target. */
export const ownTimeouts = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        firstByteMs: milliseconds("Time to an upstream's status line"),
        idleMs: milliseconds('Longest time without data within a reply'),
        totalMs: milliseconds('Time for the whole call'),
      },
      { additionalProperties: false, description },
    ),
  );

const targetSchema = Type.Object(
  {
    upstream: Type.String({ minLength: 1, description: 'Name of an upstream.' }),
    model: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Name of the model at the upstream. Default: the same name.' }),
    ),
    is: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'The model behind that name, if the name says nothing about it: a deployment, a profile, an alias. Capabilities and prices are those of this model, unless the price book has the name itself.',
      }),
    ),
    priority: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: 'A lower number comes first. Targets of the same priority share the calls. Default: the position in the list.',
      }),
    ),
    weight: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 1,
        description: 'Relative share of the calls among targets of the same priority.',
      }),
    ),
    when: Type.Optional(conditionsSchema),
    timeouts: ownTimeouts('Timeouts of calls to this target. They take precedence over those of the model.'),
  },
  { additionalProperties: false },
);

export type ConfiguredTarget = Static<typeof targetSchema>;

/** The targets of a model. */
export const targetsSchema = Type.Array(targetSchema, {
  minItems: 1,
  maxItems: 64,
  description:
    "Targets of the model's calls, first choice first. Without any `priority`, targets that support the caller's interface come before the others.",
});

export const balanceSchema = Type.Optional(
  Type.Enum(['conversation', 'least-loaded', 'random'], {
    description:
      "How targets of one priority share the calls. conversation: all calls of a conversation go to one target, so that prompt caches keep working. least-loaded: each call goes to the target with the fewest concurrent calls. random: each call goes to a random target, by weight. Default: conversation, and targets that support the caller's interface come before others of their priority. If balance is set, targets share the calls independent of their interfaces.",
  }),
);
