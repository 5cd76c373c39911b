import Type from 'typebox';

const mode = Type.Optional(Type.Enum(['auto', 'native', 'gateway', 'off'], { default: 'auto' }));

/** Where the built-in tools of a model, or of all models, run. */
export function toolModesSchema(whose: string) {
  return Type.Optional(
    Type.Object(
      { webSearch: mode, codeExecution: mode, fileSearch: mode, urlContext: mode, imageGeneration: mode },
      {
        additionalProperties: false,
        description: `Where the built-in tools of ${whose} run. auto: at the vendor if the vendors of all targets have the tool, else in the gateway (file search always runs in the gateway). native: only at the vendor; gateway: only in the gateway; off: requests with the tool are refused.`,
      },
    ),
  );
}
