import type { UpstreamSource } from '../config/build-settings.ts';

/** The source of the upstreams, and their names (as members). */
type WelcomeSource = { readonly type: UpstreamSource['type']; readonly upstreams: Readonly<Record<string, unknown>> };

export type Welcome = {
  readonly gatewayUrl: string | undefined;
  readonly monitorUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  readonly consoleUrl?: string | undefined;
  /** A link that signs in once, within 15 minutes. It is printed now and never logged. */
  readonly consoleLink?: string | undefined;
  /** Secrets that were created at this start. They are printed now and never again. */
  readonly newApiKey: string | undefined;
  readonly newBillingToken: string | undefined;
  readonly source: WelcomeSource | undefined;
  /** An example model for each interface that an upstream serves. */
  readonly examples: { readonly messages?: string; readonly chat?: string; readonly generateContent?: string };
};

function describeSource(source: WelcomeSource): string {
  const names = Object.keys(source.upstreams).join(', ');
  switch (source.type) {
    case 'file':
      return `upstreams: ${names}`;
    case 'environment':
      return `upstreams, from the keys in the environment: ${names}`;
    case 'layer':
      return `upstreams, published by the console: ${names}`;
    case 'simulated':
      return 'upstreams: simulated vendors. Set a vendor key such as OPENAI_API_KEY, or name upstreams in weir.yaml, for real ones.';
  }
}

function tryGateway(url: string, apiKey: string, examples: Welcome['examples']): string {
  const { messages, chat, generateContent } = examples;
  const json = `-H 'content-type: application/json'`;
  const hello = `"messages":[{"role":"user","content":"Hello"}]`;
  const lines: string[] = ['Try it:'];
  if (messages !== undefined) {
    lines.push('', `  curl ${url}/v1/messages -H 'x-api-key: ${apiKey}' -H 'anthropic-version: 2023-06-01' ${json} \\`);
    lines.push(`    -d '{"model":"${messages}","max_tokens":200,${hello}}'`);
  }
  if (chat !== undefined) {
    lines.push('', `  curl -N ${url}/v1/chat/completions -H 'authorization: Bearer ${apiKey}' ${json} \\`);
    lines.push(`    -d '{"model":"${chat}","stream":true,${hello}}'`);
  }
  if (generateContent !== undefined) {
    lines.push('', `  curl '${url}/v1beta/models/${generateContent}:generateContent' -H 'x-goog-api-key: ${apiKey}' ${json} \\`);
    lines.push(`    -d '{"contents":[{"parts":[{"text":"Hello"}]}]}'`);
  }
  return lines.join('\n');
}

function tryMonitor(url: string, billingToken: string): string {
  return [
    'See what was used:',
    '',
    `  curl ${url}/bill/stats -H 'token: ${billingToken}' -H 'content-type: application/json' \\`,
    `    -d "{\\"type\\":3,\\"startTime\\":$(( $(date +%s) - 86400 )),\\"endTime\\":$(( $(date +%s) + 60 ))}"`,
  ].join('\n');
}

/** What each address of a start of all programs is for. */
function explainAddresses({ gatewayUrl, monitorUrl, consoleUrl, consoleLink }: Welcome): string | undefined {
  if (gatewayUrl === undefined || monitorUrl === undefined) return undefined;
  const lines = [
    `  ${gatewayUrl}  gateway: clients and SDKs call models here`,
    `  ${monitorUrl}  monitor: statistics of usage and cost, for billing systems`,
    ...(consoleUrl === undefined
      ? []
      : [`  ${consoleUrl}  console: pages and API for administration${consoleLink === undefined ? '' : '; the link above signs you in'}`]),
  ];
  return lines.join('\n');
}

/** The text that a start prints on standard output. The last line is the ready line, which programs read too. */
export function describeWelcome(welcome: Welcome): string {
  const { gatewayUrl, monitorUrl, metricsUrl, consoleUrl, consoleLink, newApiKey, newBillingToken, source } = welcome;
  const parts: string[] = [];
  if (source !== undefined) parts.push(describeSource(source));
  if (newApiKey !== undefined) parts.push(`API key (shown this once):       ${newApiKey}`);
  if (newBillingToken !== undefined) parts.push(`Billing token (shown this once): ${newBillingToken}`);
  if (consoleLink !== undefined) parts.push(`Console (works once, 15 minutes): ${consoleLink}`);
  if (gatewayUrl !== undefined && newApiKey !== undefined) parts.push('', tryGateway(gatewayUrl, newApiKey, welcome.examples), '');
  if (monitorUrl !== undefined && newBillingToken !== undefined) parts.push(tryMonitor(monitorUrl, newBillingToken), '');
  const explained = explainAddresses(welcome);
  if (explained !== undefined) parts.push(explained);
  const addresses = [
    ...(gatewayUrl === undefined ? [] : [`gateway ${gatewayUrl}`]),
    ...(monitorUrl === undefined ? [] : [`monitor ${monitorUrl}`]),
    ...(consoleUrl === undefined ? [] : [`console ${consoleUrl}`]),
    ...(metricsUrl === undefined ? [] : [`metrics ${metricsUrl}`]),
  ];
  parts.push(`weir ready: ${addresses.join(' ')}`);
  return parts.join('\n');
}
