import { filledText, membersOf, objectOf, objectsOf } from '../platform/json/json-readers.ts';

/** Codes with which services say that their filter refused the content of a request. Azure has the first two. */
const filterCodes: ReadonlySet<string> = new Set(['content_filter', 'responsibleaipolicyviolation', 'content_policy_violation']);

const isFilterCode = (value: unknown): boolean => filterCodes.has(filledText(value)?.toLowerCase() ?? '');

/**
 * Reads the refusal of a content filter from an error body of OpenAI's form. Undefined for all other errors.
 * @returns what the filter found, such as `violence: medium, jailbreak`; empty if the service does not say
 */
export function readFilterRefusal(body: unknown): string | undefined {
  const members = membersOf(body);
  const error = objectOf(members['error']) ?? members;
  const inner = membersOf(error['innererror']);
  if (!isFilterCode(error['code']) && !isFilterCode(inner['code'])) return undefined;
  const listed = objectsOf(error['content_filters']).map((entry) => entry['content_filter_results']);
  const results = [inner['content_filter_result'], inner['content_filter_results'], ...listed];
  return [...new Set(results.flatMap((result) => describeFindings(result)))].join(', ').slice(0, 200);
}

function describeFindings(results: unknown): readonly string[] {
  return Object.entries(membersOf(results)).flatMap(([category, verdict]) => {
    const { filtered, severity } = membersOf(verdict);
    if (filtered !== true) return [];
    const degree = filledText(severity);
    return [degree === undefined ? category : `${category}: ${degree}`];
  });
}
