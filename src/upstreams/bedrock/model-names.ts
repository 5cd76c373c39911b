/** Prefixes of inference profiles, which name a group of regions. Source: "inference profiles" of the user guide. */
const profiles = /^(?:us-gov|us|eu|apac|uk|au|jp|ca|global)\./;

/** The id in the ARN of a profile or model of AWS; that of an application's profile is any text. */
const idInArn = /:(?:inference-profile|foundation-model)\/([^/]+)$/;

/** The area of an inference profile: `eu` of `eu.anthropic.claude-opus-5`. Undefined for other names. */
export function areaOf(name: string): string | undefined {
  const id = name.startsWith('arn:') ? (idInArn.exec(name)?.[1] ?? '') : name;
  return profiles.exec(id)?.[0].slice(0, -1);
}

/** What a name of a model at Bedrock says. */
export type BedrockModel = {
  /** The name without the regions of a profile: `anthropic.claude-opus-5`. Undefined for the ARN of a profile. */
  readonly base: string | undefined;
  /** The maker: `anthropic`, `openai`, `amazon`. */
  readonly maker: string | undefined;
  /** The maker's own name, as its own service has it: `claude-sonnet-4-5-20250929`. */
  readonly ownName: string | undefined;
};

/** Reads the name of a model, of a profile, or the maker's own name of a model (`is`). */
export function readModelName(name: string): BedrockModel {
  if (name.startsWith('arn:')) {
    const id = idInArn.exec(name)?.[1];
    return id === undefined ? { base: undefined, maker: undefined, ownName: undefined } : readModelName(id);
  }
  const base = name.replace(profiles, '');
  const found = /^([a-z0-9-]+)\.(.+)$/.exec(base);
  // The dot of `claude-opus-4.8` or `gpt-5.1` belongs to a maker's own name.
  const isMaker = found !== null && !/\d$/.test(found[1] ?? '');
  if (isMaker) return { base, maker: found[1], ownName: withoutVersion(found[2] ?? '') };
  return { base, maker: makerOf(base), ownName: withoutVersion(base) };
}

/** The maker of a model that the operator names as its maker does. */
function makerOf(name: string): string | undefined {
  if (name.startsWith('claude')) return 'anthropic';
  if (/^(?:gpt|o\d)/.test(name)) return 'openai';
  return undefined;
}

/** Whether models of a maker have no interface of their own here, so that they are called through Converse. */
export const isConversed = (maker: string | undefined): boolean => maker !== undefined && maker !== 'anthropic' && maker !== 'openai';

/** `-v1:0` and `-1:0` at the end are versions of Bedrock. */
function withoutVersion(name: string): string {
  return name.replace(/(?:-v\d+)?(?::\d+)*$/, '').replace(/-1$/, (end) => (name.endsWith('-1:0') ? '' : end));
}

/**
 * Claude models that have the Messages interface besides InvokeModel: those since Opus 4.7. Source: "Messages API" of
 * the user guide.
 */
export function hasMessages(ownName: string): boolean {
  return /^claude-(?:(?:opus|sonnet|haiku)-(?:[5-9]|4-[789])|fable|mythos)/.test(ownName);
}
