import { type Static, Type } from 'typebox';

import type { DescribedValue } from '../../control/nodes/node-state.ts';
import { nullable, record } from './values.ts';

/** A value of the configuration, with its source. */
export const describedValueSchema = record({
  path: Type.String({ examples: ['limits.requestBytesMax'] }),
  value: Type.Unknown({ description: 'The value in force; null for a secret, and if there is none.' }),
  default: Type.Unknown(),
  secret: nullable(
    record({ set: Type.Boolean(), ends_in: nullable(Type.String({ description: 'Null if it is too short to be shown.' })) }),
  ),
  from: Type.Enum(['file', 'environment', 'layer', 'simulated', 'default']),
  variable: nullable(Type.String({ description: 'The variable of the environment that it comes from.' })),
  reference: nullable(Type.String({ description: 'The secret that it comes from: `vault:secret/weir/openai#key`.' })),
  line: nullable(Type.Integer({ description: 'Its line in the file.' })),
});

export function encodeDescribed(described: DescribedValue): Static<typeof describedValueSchema> {
  const { path, value, secret, default: standard, from, variable, reference, line } = described;
  return {
    path,
    value: value ?? null,
    default: standard ?? null,
    secret: secret === undefined ? null : { set: secret.set, ends_in: secret.endsIn ?? null },
    from,
    variable: variable ?? null,
    reference: reference ?? null,
    line: line ?? null,
  };
}
