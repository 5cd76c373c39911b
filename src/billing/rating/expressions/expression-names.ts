import { inputMeters, type Meter, meterNames, meters } from '../../../inference/meters.ts';

/** Words that the gateway reads from what is sent, or the vendor's reply says. Each is a text, or absent where nobody said it. */
export const parameterNames = ['resolution', 'inference_geo', 'speed', 'service_tier'] as const;

export type ParameterName = (typeof parameterNames)[number];

type UsageName = (typeof meters)[Meter]['name'];
type SecondsName<Name> = Name extends `${infer Base}_ms` ? `${Base}_seconds` : never;

/** All input, cache included. */
const totalInput = 'total_input_tokens';

export type CountName = UsageName | SecondsName<UsageName> | typeof totalInput;

/** Which counts of usage make up a named count, and how many of them are one. */
export type CountParts = { readonly counts: readonly Meter[]; readonly per: bigint };

/** A count that nobody reported is 0. Seconds are exact: 1,500 milliseconds are 1.5. */
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

/** Every name there is, for messages. */
export const countNames: readonly string[] = [...parts.keys()];

/** The parts of a count, of which there is one for every name. */
export function countParts(name: CountName): CountParts {
  return parts.get(name) ?? { counts: [], per: 1n };
}

/** What a count can be at most: input of any kind, and each part of it, all of the input; a part of the output all of the output. */
export function boundingCount(name: CountName): CountName {
  const [meter, other] = countParts(name).counts;
  if (meter === undefined || other !== undefined) return name;
  const facts = meters[meter];
  if (facts.unit !== 'token') return name;
  return facts.side === 'input' ? totalInput : meters.outputTokens.name;
}
