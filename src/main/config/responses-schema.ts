import Type from 'typebox';

export const responsesSchema = Type.Object(
  {
    retentionDays: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 36_500,
        default: 30,
        description:
          'Days for which responses are stored, and conversations after their last change. 0: nothing is stored. A key may have a setting of its own.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Responses that are stored so that a later request can continue them.' },
);
