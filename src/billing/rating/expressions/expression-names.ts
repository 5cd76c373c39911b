import { inputMeters, type Meter, meterNames, meters } from '../../../inference/meters.ts';

/** Values that the gateway reads from the request, the target or the vendor's reply. Each is a text, or absent. */
export const parameterNames = ['resolution', 'region', 'inference_geo', 'speed', 'service_tier'] as const;

export type ParameterName = (typeof parameterNames)[number];

type UsageName = (typeof meters)[Meter]['name'];
type SecondsName<Name> = Name extends `${infer Base}_ms` ? `${Base}_seconds` : never;

/** All input, cache included. */
const totalInput = 'total_input_tokens';

export type CountName = UsageName | SecondsName<UsageName> | typeof totalInput;

/** The counts of usage that add up to a named count, and how many of them make one unit. */
export type CountParts = { readonly counts: readonly Meter[]; readonly per: bigint };

/** A count that was not reported is 0. Seconds are exact: 1,500 milliseconds are 1.5. */
const parts: ReadonlyMap<string, CountParts> = new Map<string, CountParts>([
  ...meterNames.map((meter) => [meters[meter].name, { counts: [meter], per: 1n }] as const),
  ...meterNames.flatMap((meter) => {
    const { name, unit } = meters[meter];
    return unit === 'ms' ? [[name.replace(/_ms$/, '_seconds'), { counts: [meter], per: 1000n }] as const] : [];
  }),
  [totalInput, { counts: inputMeters, per: 1n }],
]);

export function isCountName(name: string): name is CountName {
  return parts.has(name);
}

export function isParameterName(name: string): name is ParameterName {
  return (parameterNames as readonly string[]).includes(name);
}

/** All names, for messages. */
export const countNames: readonly string[] = [...parts.keys()];

/** The parts of a count; every name has them. */
export function countParts(name: CountName): CountParts {
  return parts.get(name) ?? { counts: [], per: 1n };
}

/**
 * The count that bounds another: all of the input for input of any kind and its parts; all of the output for a part of
 * it.
 */
export function boundingCount(name: CountName): CountName {
  const [meter, other] = countParts(name).counts;
  if (meter === undefined || other !== undefined) return name;
  const facts = meters[meter];
  if (facts.unit !== 'token') return name;
  return facts.side === 'input' ? totalInput : meters.outputTokens.name;
}
