/** A request to a resource: which deployment it addresses, and where the simulated vendor has the route. */
export type AzureRoute = {
  readonly surface: 'v1' | 'dated' | 'anthropic';
  /** The path at the vendor behind it. */
  readonly vendorPath: string;
  readonly vendor: 'openai' | 'anthropic';
  /** The deployment in the path. Absent: the body names it as its model. */
  readonly deployment?: string;
};

export type AzureRefusal = { readonly status: number; readonly code: string; readonly message: string };

/** The dated versions that the resource knows. */
const apiVersions: ReadonlySet<string> = new Set([
  '2024-06-01',
  '2024-10-21',
  '2025-01-01-preview',
  '2025-03-01-preview',
  '2025-04-01-preview',
]);

/** The routes that have the deployment in their path under dated versions (OpenAI's Node SDK, azure.ts). */
const deploymentRoutes: ReadonlySet<string> = new Set([
  '/chat/completions',
  '/embeddings',
  '/audio/speech',
  '/audio/transcriptions',
  '/audio/translations',
  '/images/generations',
  '/images/edits',
]);

/** The answer to a path or a version that does not exist: both look the same. */
const notFound: AzureRefusal = { status: 404, code: '404', message: 'Resource not found' };

/** Finds the route of a path, or the refusal. */
export function findRoute(pathname: string, query: URLSearchParams): AzureRoute | AzureRefusal {
  const version = query.get('api-version');
  if (pathname.startsWith('/anthropic/v1/')) {
    const rest = pathname.slice('/anthropic'.length);
    const isKnown = rest === '/v1/messages' || rest === '/v1/messages/count_tokens';
    return isKnown ? { surface: 'anthropic', vendor: 'anthropic', vendorPath: rest } : notFound;
  }
  if (pathname.startsWith('/openai/v1/')) {
    if (version !== null && !['v1', 'preview', 'latest'].includes(version))
      return { status: 400, code: 'BadRequest', message: 'API version not supported' };
    return { surface: 'v1', vendor: 'openai', vendorPath: pathname.slice('/openai'.length) };
  }
  if (version === null || !apiVersions.has(version)) return notFound;
  const [, deployment, rest = ''] = /^\/openai\/deployments\/([^/]+)(\/.+)$/.exec(pathname) ?? [];
  if (deployment !== undefined) {
    if (!deploymentRoutes.has(rest)) return notFound;
    return { surface: 'dated', vendor: 'openai', vendorPath: `/v1${rest}`, deployment: decodeURIComponent(deployment) };
  }
  const isUndeployed = /^\/openai\/(?:responses|models)(?:\/|$)/.test(pathname);
  return isUndeployed ? { surface: 'dated', vendor: 'openai', vendorPath: `/v1${pathname.slice('/openai'.length)}` } : notFound;
}
