import Type from 'typebox';

export const callbacksSchema = Type.Object(
  {
    privateAddresses: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether callbacks may go to private networks, over plain http and to any port. Only for networks whose clients may reach all that the gateway can.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Events that are sent to addresses which clients name.' },
);
