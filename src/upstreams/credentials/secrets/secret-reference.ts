/** The kinds of references, as they begin: `${vault:…}`. */
const secretKinds = ['file', 'vault', 'aws-sm', 'gcp-sm', 'azure-kv'] as const;
type SecretKind = (typeof secretKinds)[number];

/** A place that has a secret. The text is the part between `${` and `}`, which is not secret. */
export type SecretReference = { readonly text: string; readonly kind: SecretKind; readonly place: string; readonly member?: string };

/** How each kind is written, for messages. */
const forms: Readonly<Record<SecretKind, { readonly pattern: RegExp; readonly example: string }>> = {
  file: { pattern: /^\/[^#]+$/, example: 'file:/run/secrets/openai' },
  vault: { pattern: /^[^/#\s][^#\s]*\/[^#\s]*[^/#\s]#[^#\s]+$/, example: 'vault:secret/weir/openai#key' },
  'aws-sm': { pattern: /^[A-Za-z0-9/_+=.@:-]+(?:#[^#\s]+)?$/, example: 'aws-sm:weir/openai#key' },
  'gcp-sm': {
    pattern:
      /^projects\/[^/#\s]+(?:\/locations\/[a-z0-9-]+)?\/secrets\/[A-Za-z0-9_-]+(?:\/versions\/(?:[0-9]+|[A-Za-z][\w-]*))?(?:#[^#\s]+)?$/,
    example: 'gcp-sm:projects/acme/secrets/openai',
  },
  'azure-kv': {
    pattern: /^[A-Za-z0-9][A-Za-z0-9.-]*\/[A-Za-z0-9-]+(?:\/[0-9a-f]{32})?(?:#[^#\s]+)?$/,
    example: 'azure-kv:acme-vault/openai',
  },
};

/** Whether the part of a reference between `${` and `}` means a secret, and not a variable. */
export const isSecretReference = (text: string): boolean => /^[A-Za-z][A-Za-z0-9-]*:(?!-)/.test(text);

/** Reads the part of a reference between `${` and `}`. Returns what is wrong with it as a text. */
export function parseSecretReference(text: string): SecretReference | string {
  const colon = text.indexOf(':');
  const kind = secretKinds.find((each) => each === text.slice(0, colon));
  if (kind === undefined)
    return `there is no kind of secret "${text.slice(0, colon)}"; there are ${secretKinds.join(', ')}, and "\${NAME}" for variables`;
  const rest = text.slice(colon + 1);
  const { pattern, example } = forms[kind];
  if (!pattern.test(rest)) return `"\${${text}}" must have the form "\${${example}}"${hintFor(kind, rest)}`;
  const [place = '', member] = rest.split('#');
  return { text, kind, place, ...(kind !== 'file' && member !== undefined && { member }) };
}

function hintFor(kind: SecretKind, rest: string): string {
  if (kind === 'file') return ': the path begins with /';
  if (kind === 'vault' && !rest.includes('#')) return ': the name of the key within the secret follows a #';
  return '';
}
