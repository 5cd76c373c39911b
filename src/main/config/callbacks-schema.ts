import Type from 'typebox';

export const callbacksSchema = Type.Object(
  {
    privateAddresses: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether callbacks may use private networks, plain http and any port. Only for networks whose clients may reach everything that the gateway can reach.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Events that the gateway sends to addresses of clients.' },
);
