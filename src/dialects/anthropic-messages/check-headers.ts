import { GatewayError } from '../../inference/gateway-error.ts';
import type { ValidationMode } from '../dialect-id.ts';
import type { WireRequest } from '../wire-request.ts';

/** The vendor's spelling comes first, because error messages use it if neither was sent. */
const versionHeaders = ['anthropic-version', 'vendor-version'];
const betaHeaders = ['anthropic-beta', 'vendor-beta'];

const datePattern = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/** The betas with which the vendor introduced features of the contract. `documented` mode accepts no others. */
const documentedBetas = [
  'computer-use-2024-10-22',
  'messages-2023-12-15',
  'pdfs-2024-09-25',
  'prompt-caching-2024-07-31',
  'token-counting-2024-11-01',
];

/**
 * Requires a version header in one of its two spellings, or in both with the same version. `documented` mode also
 * refuses betas that are not in the contract.
 */
export function checkHeaders(headers: WireRequest['headers'], mode: ValidationMode): void {
  const versions = versionHeaders.filter((name) => isGiven(headers[name]));
  if (versions.length === 0) {
    throw new GatewayError('missing_required_header', 'anthropic-version: header is required (vendor-version is also accepted)', {
      param: 'anthropic-version',
    });
  }
  for (const name of versions) {
    const value = headers[name] ?? '';
    if (datePattern.test(value)) continue;
    const message = `${name}: must be a date of the form YYYY-MM-DD, but got '${value.slice(0, 64)}'`;
    throw new GatewayError('invalid_value', message, { param: name });
  }
  const [first, second] = versions.map((name) => headers[name]);
  if (second !== undefined && first !== second) {
    const message = `vendor-version: must be the version in anthropic-version ('${first}') if both are sent, but got '${second}'`;
    throw new GatewayError('invalid_value', message, { param: 'vendor-version' });
  }
  if (mode === 'documented') for (const name of betaHeaders) checkBetas(name, headers[name] ?? '');
}

function checkBetas(name: string, value: string): void {
  for (const part of value.split(',')) {
    const beta = part.trim();
    if (beta === '' || documentedBetas.includes(beta)) continue;
    const message = `${name}: must be one of '${documentedBetas.join("', '")}', but got '${beta.slice(0, 64)}'`;
    throw new GatewayError('invalid_value', message, { param: name });
  }
}

const isGiven = (value: string | undefined): boolean => value !== undefined && value.trim() !== '';
