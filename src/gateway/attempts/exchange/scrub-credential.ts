const redaction = '[redacted]';

/** Shorter keys would be found in innocent text. */
const keyCharactersMin = 8;

/**
 * Ids of the operator's account as vendors name them in refusals: "in organization org-…", "(org: <uuid>)", "Your team <uuid>", "project_number:123". The account is shared by all callers,
 * and no business of any of them.
 */
const uuid = String.raw`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`;
const accountIds = new RegExp(
  String.raw`\b(org-|proj_)[A-Za-z0-9]{8,}|\b(org(?:anization)?:? |team[ /])${uuid}|\b(project_number:|projects/)\d{5,}`,
  'g',
);

/** A vendor that quotes the credential it received must not show the operator's key to anybody. */
export function scrubCredential(text: string, apiKey: string | undefined): string {
  if (apiKey === undefined || apiKey.length < keyCharactersMin) return text;
  return text.includes(apiKey) ? text.replaceAll(apiKey, redaction) : text;
}

/** What a vendor says of a failure, or in a header, as a client may see it: without the operator's key and without the ids of its account. */
export function scrubText(text: string, apiKey: string | undefined): string {
  return scrubCredential(text, apiKey).replace(
    accountIds,
    (_id, openai: string | undefined, named: string | undefined, google: string | undefined) =>
      `${openai ?? named ?? google ?? ''}${redaction}`,
  );
}

/** The same for bytes; they stay the same buffer where there is nothing to hide. */
export function scrubBytes(bytes: Buffer, apiKey: string | undefined): Buffer {
  const text = bytes.toString();
  const scrubbed = scrubText(text, apiKey);
  return scrubbed === text ? bytes : Buffer.from(scrubbed);
}
