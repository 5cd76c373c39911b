import { upstreamDialects } from '../../dialects/registry.ts';
import type { UpstreamDialectId } from '../../dialects/dialect-id.ts';
import { scrubCredential } from '../../gateway/attempts/exchange/pass-headers.ts';
import type { ErrorCode } from '../../inference/gateway-error.ts';
import { filledText, membersOf } from '../../platform/json/json-readers.ts';
import type { Answer, AskError } from '../../platform/http/ask-upstream.ts';
import { tidyWords } from './finding.ts';
import { parseBody } from './parse-body.ts';
import type { CheckedUpstream } from './checked-upstream.ts';

/** Describes a failure, and what to do about it. */
export type Explanation = { readonly says: string; readonly advice: string };

/** Text of an upstream that is safe to show: without its credential. */
export function showWords(text: string, { upstream }: CheckedUpstream): string {
  return tidyWords(scrubCredential(text, upstream.apiKey));
}

/** The message in an error body, from any of the usual members; for text that is not JSON, its beginning. */
export function saidIn(answer: Answer, checked: CheckedUpstream): string {
  const parsed = parseBody(answer.body);
  const whole = membersOf(Array.isArray(parsed) ? (parsed[0] as unknown) : parsed);
  const inner = membersOf(whole.error);
  const told = filledText(inner.message) ?? filledText(whole.error) ?? filledText(whole.message) ?? filledText(whole.detail);
  const text = told ?? (parsed === undefined ? answer.body.toString('utf8', 0, 400).replaceAll(/<[^>]*>/g, ' ') : JSON.stringify(parsed));
  return showWords(text.replaceAll(/\s+/g, ' '), checked);
}

/** The media type of an answer, without its parameters. */
export function mediaTypeOf({ headers }: Answer): string {
  const value = headers['content-type'];
  const [type = ''] = String(value ?? '').split(';');
  return type.trim().toLowerCase();
}

const resolverCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA']);
const chainCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

const ownAuthority =
  'if it is your own server, start Weir with NODE_EXTRA_CA_CERTS=/path/to/ca.pem (its certificate or that of its authority); if not, something on the network intercepts the connection';

/** Explains why a certificate is refused, by the code of the TLS library. Undefined for other codes. */
export function explainCertificate(code: string, { origin }: CheckedUpstream): Explanation | undefined {
  const { hostname } = new URL(origin);
  if (code === 'DEPTH_ZERO_SELF_SIGNED_CERT')
    return { says: `the certificate of ${hostname} is self-signed (${code})`, advice: ownAuthority };
  if (chainCodes.has(code))
    return { says: `this machine does not trust the issuer of the certificate of ${hostname} (${code})`, advice: ownAuthority };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return { says: `the certificate is for another name than ${hostname}`, advice: 'use the name of the certificate in baseUrl' };
  if (code === 'CERT_HAS_EXPIRED')
    return { says: 'the certificate has expired', advice: "renew the server's certificate; check this machine's clock as well" };
  if (code === 'CERT_NOT_YET_VALID') return { says: 'the certificate is not valid yet', advice: "check this machine's clock" };
  return undefined;
}

/** Explains why a connection failed, by the code of the system. */
export function explainTransport(code: string, message: string, checked: CheckedUpstream): Explanation {
  const { hostname, host, protocol } = new URL(checked.origin);
  const certificate = explainCertificate(code, checked);
  if (certificate !== undefined) return certificate;
  if (code === 'ECONNREFUSED')
    return {
      says: `connection refused by ${host}`,
      advice: `is the server running at ${host}? Start it, or correct baseUrl of this upstream`,
    };
  if (resolverCodes.has(code))
    return {
      says: `the name ${hostname} cannot be resolved (${code})`,
      advice:
        code === 'EAI_AGAIN'
          ? "the resolver does not answer: check this machine's network and DNS"
          : 'check the spelling of baseUrl, and whether this machine (or container) resolves that name',
    };
  if (code === 'CONNECT_TIMEOUT' || code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return {
      says: `no connection to ${host} (${code})`,
      advice: 'a firewall, a route or a VPN is missing; Weir uses no HTTP proxy, so the machine must reach the upstream itself',
    };
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_'))
    return {
      says: `the TLS handshake with ${host} failed (${code})`,
      advice: protocol === 'https:' ? `does ${host} speak TLS at all? If it is a plain server, write http:// in baseUrl` : 'check baseUrl',
    };
  if (code === 'INVALID_HTTP_REPLY')
    return {
      says: `the server at ${host} does not speak HTTP/1.1: ${showWords(message, checked)}`,
      advice: protocol === 'http:' ? 'does the server expect TLS? Then write https:// in baseUrl' : 'check the port in baseUrl',
    };
  return {
    says: `the connection broke: ${showWords(message, checked)} (${code})`,
    advice: "look into the server's log, or that of the proxy before it; try again",
  };
}

/** Explains a request without a whole answer. */
export function explainSilence(error: AskError, checked: CheckedUpstream, timeoutMs: number): Explanation {
  if (error.code === 'ABORTED') return { says: 'interrupted', advice: 'run weir doctor again' };
  if (error.code !== 'TIMEOUT') return explainTransport(error.code, error.message, checked);
  const seconds = `${timeoutMs / 1000} s`;
  if (error.partial === undefined)
    return {
      says: `no answer within ${seconds}`,
      advice: 'a model that is still being loaded may need more time: try again with --timeout 120; else look into the log of the server',
    };
  return {
    says: `the answer began (${error.partial.status}, ${error.partial.body.length} bytes) and did not end within ${seconds}`,
    advice: 'a proxy may hold the answer back, or the server never ends it: look into its log, or try --timeout 120',
  };
}

const adviceByCode: Partial<Record<ErrorCode, string>> = {
  upstream_rate_limited: 'the account has no calls left for the moment: wait, or raise its limits with the vendor',
  upstream_quota_exhausted: "the account is out of credit or quota: look at the vendor's billing page",
  upstream_overloaded: 'the upstream is overloaded: try again later; a second target for its models would help',
};

/** Advice about a refused credential, without the key itself. */
function renewKey(status: number, { upstream, keySource }: CheckedUpstream): string {
  if (upstream.apiKey === undefined && upstream.credential !== undefined)
    return `${status}: the credential is fetched, and refused here: does it belong to the account and region of upstreams.${upstream.id}?`;
  if (upstream.apiKey === undefined)
    return `upstream ${upstream.id} has no key: set apiKey (best as "\${NAME}") or one of the vendor's environment variables`;
  const { keysUrl } = upstream.vendor;
  const where = keysUrl === undefined ? 'get the right key from the operator of the server' : `create a new key at ${keysUrl}`;
  const rights = status === 403 ? '; if it is good, its project or region may not use this model' : '';
  return `${status}: ${keySource} is refused; ${where} and restart Weir${rights}`;
}

/** Texts of vendors about the key, if the status is that of any refusal. */
const keyWords = /\b(?:incorrect|invalid|expired) api[ _-]?key|api key (?:not valid|expired)/i;
const modelWords = /\bmodel\b.{0,200}(?:does not exist|not found|is not available)|no such model|unknown model/i;

/** Explains an answer that is an error, or does not belong to this interface. */
export function explainAnswer(answer: Answer, dialect: UpstreamDialectId, model: string, checked: CheckedUpstream): Explanation {
  const { status } = answer;
  const said = saidIn(answer, checked);
  const type = mediaTypeOf(answer);
  if (status >= 300 && status < 400) {
    const location = showWords(String(answer.headers['location'] ?? 'nowhere'), checked);
    return { says: `it redirects (${status}) to ${location}`, advice: 'Weir follows no redirects: write the final address into baseUrl' };
  }
  const parsed = parseBody(answer.body);
  const error = upstreamDialects[dialect].codec.decodeError({ status, body: parsed });
  const quoted = said === '' ? '' : `: ${said}`;
  const { vendor, facts, apiKey } = checked.upstream;
  const code = filledText(membersOf(membersOf(parsed).error).code);
  const own = vendor.adviseOperator?.({ status, code, message: said, model, hasKey: apiKey !== undefined }, facts);
  if (own !== undefined) return { says: `${status}${quoted}`, advice: own };
  if (status === 401 || error.code === 'upstream_credentials_rejected' || keyWords.test(said))
    return { says: `${status}, the credential is refused${quoted}`, advice: renewKey(status, checked) };
  if (type === 'text/html')
    return {
      says: `${status} with an HTML page${quoted}`,
      advice: `a web page, not an API, is at ${checked.address}: check baseUrl (the path and port), and whether a login page or a proxy stands before the server`,
    };
  if (status === 404 || status === 405 || error.code === 'upstream_model_not_found' || modelWords.test(said))
    return {
      says: `${status}, there is no such model or route${quoted}`,
      advice: `either the model "${tidyWords(model)}" is not served (weir doctor --model NAME checks another), or the path is wrong: baseUrl is ${checked.address}, which ${baseUrlHint(checked)}; if the server lacks this interface, leave ${dialect} out of its dialects`,
    };
  const known = adviceByCode[error.code];
  if (known !== undefined) return { says: `${status}${quoted}`, advice: known };
  if (status >= 500) return { says: `${status}${quoted}`, advice: 'the server failed on a plain request: look into its log' };
  return { says: `${status}${quoted}`, advice: 'the server refuses a plain request: its message above names the reason' };
}

/** Where the base address of such an upstream ends. */
export function baseUrlHint({ upstream }: CheckedUpstream): string {
  const { id } = upstream.vendor;
  return id === 'anthropic' || id === 'gemini' ? 'must not end in /v1' : 'usually ends in /v1';
}
