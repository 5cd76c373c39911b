import Type from 'typebox';

const mode = Type.Optional(Type.Enum(['auto', 'native', 'gateway', 'off'], { default: 'auto' }));

/** Who runs the built-in tools of a model, or of all. */
export function toolModesSchema(whose: string) {
  return Type.Optional(
    Type.Object(
      { webSearch: mode, codeExecution: mode, fileSearch: mode, urlContext: mode, imageGeneration: mode },
      {
        additionalProperties: false,
        description: `Who runs the built-in tools of ${whose}. auto: the vendor where every target's vendor can, else the gateway (files are always searched by the gateway); native: only the vendor; gateway: only the gateway; off: requests with the tool are refused.`,
      },
    ),
  );
}
