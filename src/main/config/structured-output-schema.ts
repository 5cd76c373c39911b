import Type from 'typebox';

/** Whether replies are checked against the strict JSON schemas of their requests. */
export function structuredOutputSchema(whose: string) {
  return Type.Optional(
    Type.Object(
      {
        check: Type.Optional(
          Type.Enum(['auto', 'off', 'report', 'repair'], {
            default: 'auto',
            description:
              'What happens to a reply that does not match. off: replies are not checked. report: the client receives an error. repair: the model receives the problems in a second request, and if that reply does not match either, the client receives an error. auto: repair if the call is translated and its upstream does not enforce the whole schema, else off. An upstream does not enforce it if a bound is only in a description, if the schema is not strict there, or if JSON is only requested. A checked reply is not passed through as bytes, and a stream sends its text after the check. A reply that is too expensive to check is delivered with `unchecked` in x-gateway-warning.',
          }),
        ),
      },
      { additionalProperties: false, description: `How replies of ${whose} are checked against strict JSON schemas.` },
    ),
  );
}
