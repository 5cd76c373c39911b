/** The parts of a deployment's path: its name and the rest. */
const deploymentPath = /^\/openai\/deployments\/([^/]+)\/(.+)$/;

/**
 * Reads the path of a request to Azure: `/openai/v1/...`, the dated `/openai/...` with and without a deployment, and
 * `/anthropic/v1/...`. They mean the interfaces that OpenAI and Anthropic have under `/v1`. Bedrock has the paths with
 * `/v1` too. Other paths stay.
 */
export function readAzurePath(path: string): { readonly path: string; readonly model?: string; readonly isOfCloud?: true } {
  if (!path.startsWith('/openai/') && !path.startsWith('/anthropic/')) return { path };
  const [, encoded, rest] = deploymentPath.exec(path) ?? [];
  const model = encoded === undefined ? undefined : decode(encoded);
  if (model !== undefined && rest !== undefined) return { path: `/v1/${rest}`, model };
  if (path.startsWith('/anthropic/v1/')) return { path: path.slice('/anthropic'.length), isOfCloud: true };
  if (path.startsWith('/openai/v1/')) return { path: path.slice('/openai'.length) };
  return { path: path.startsWith('/openai/') ? `/v1${path.slice('/openai'.length)}` : path };
}

/** Undefined if the percent-encoding is invalid: no model has such a name. */
function decode(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}
