import Type from 'typebox';

/** Whether replies are checked against the JSON schemas that their clients asked for strictly. */
export function structuredOutputSchema(whose: string) {
  return Type.Optional(
    Type.Object(
      {
        check: Type.Optional(
          Type.Enum(['auto', 'off', 'report', 'repair'], {
            default: 'auto',
            description:
              'What becomes of a reply that does not fit. off: nothing, it is not looked at; report: it is answered with an error; repair: the model is asked once more with the problems named, and then it is an error; auto: repair where the call is translated and its upstream does not enforce the whole schema (a bound that is only said in a description, a schema that is not strict there, JSON that is only asked for), else off. A checked reply does not pass through as bytes, and a stream shows its text when it is known to fit. A reply that is too expensive to check is delivered with `unchecked` in x-gateway-warning.',
          }),
        ),
      },
      { additionalProperties: false, description: `How replies of ${whose} are checked against strict JSON schemas.` },
    ),
  );
}
