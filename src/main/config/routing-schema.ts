import Type, { type Static } from 'typebox';
import { dialectIds } from '../../dialects/registry.ts';

const flag = (what: string) => Type.Optional(Type.Boolean({ description: `true: only calls with ${what}; false: only calls without.` }));

const tokens = (bound: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000_000,
      description: `Input of ${bound} so many tokens, estimated from the text of the request. Images and other media are not counted, nor is the output.`,
    }),
  );

/** `when` of a target. */
const conditionsSchema = Type.Object(
  {
    dialects: Type.Optional(
      Type.Array(Type.Enum([...dialectIds]), { minItems: 1, uniqueItems: true, description: 'Interfaces that the call comes in on.' }),
    ),
    images: flag('images or video'),
    documents: flag('documents'),
    audio: flag('audio, sent or asked for'),
    tools: flag('tools'),
    stream: Type.Optional(Type.Boolean({ description: 'true: only calls for a stream; false: only calls for a whole reply.' })),
    inputTokensMin: tokens('at least'),
    inputTokensMax: tokens('at most'),
  },
  { additionalProperties: false, minProperties: 1, description: 'The target takes only calls that meet all of these.' },
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
        idleMs: milliseconds('Silence within a reply'),
        totalMs: milliseconds('The whole call'),
      },
      { additionalProperties: false, description },
    ),
  );

const targetSchema = Type.Object(
  {
    upstream: Type.String({ minLength: 1, description: 'Name of an upstream.' }),
    model: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Its name there. Default: the same name.' })),
    priority: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: 'Lower is tried first. Targets of the same priority share the calls. Default: the place in the list.',
      }),
    ),
    weight: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 1, description: 'Its part of the calls that the targets of its priority share.' }),
    ),
    when: Type.Optional(conditionsSchema),
    timeouts: ownTimeouts('Timeouts of calls at this target. They beat those of the model.'),
  },
  { additionalProperties: false },
);

export type ConfiguredTarget = Static<typeof targetSchema>;

/** Where a model's calls go. */
export const targetsSchema = Type.Array(targetSchema, {
  minItems: 1,
  maxItems: 64,
  description:
    "Where the model's calls go, first choice first. Without any `priority`, targets that speak the caller's interface come before the others.",
});

export const balanceSchema = Type.Optional(
  Type.Enum(['conversation', 'least-loaded', 'random'], {
    description:
      "How targets of one priority share the calls. conversation: all calls of a conversation go to one target, so that prompt caches keep working. least-loaded: each call goes where the fewest are under way. random: each call for itself, by weight. Default: conversation, and targets that speak the caller's interface come before others of their priority; where it is set, they share the calls whatever they speak.",
  }),
);
