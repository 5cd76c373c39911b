import type { RoutingTable } from '../../../attempts/routing/routing-table.ts';

/** Bedrock's prefixes: a geography for calls across regions, and the provider. */
const bedrockPrefix = /^(?:(?:us|eu|apac|jp|au|uk|ca|us-gov|global)\.)?(?:anthropic|openai|meta|mistral|amazon|deepseek|qwen)\./;
/** Bedrock's version of the form in which a model is hosted. */
const bedrockVersion = /(?:-v\d+)?(?::\d+)?$/;
/** The last segments of a resource name of Bedrock or Vertex AI. */
const resource = /^(?:arn:[^/]*|projects)\/(?:.*\/)?([^/]+)$/;
const date = /-\d{8}$/;

/**
 * The name by which this gateway serves a model that a cloud's client names: the client's own name if it is served,
 * otherwise the vendor's name without the cloud's additions, and that without its date. A name that is not served in
 * any form stays as it is.
 *
 * `us.anthropic.claude-sonnet-4-5-20250929-v1:0` and `claude-sonnet-4-5@20250929` are `claude-sonnet-4-5-20250929`.
 */
export function servedName(name: string, { routeOf }: Pick<RoutingTable, 'routeOf'>): string {
  return vendorNames(name).find((candidate) => routeOf(candidate) !== undefined) ?? name;
}

function vendorNames(name: string): readonly string[] {
  const last = resource.exec(name)?.[1] ?? name;
  const bare = last.replace(bedrockPrefix, '').replace('@', '-');
  const vendors = bedrockPrefix.test(last) ? bare.replace(bedrockVersion, '') : bare;
  return [name, last, vendors, vendors.replace(/-(?:default|latest)$/, ''), vendors.replace(date, '')];
}
