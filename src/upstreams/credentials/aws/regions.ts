/** The end of the host names of a region. Source: the partitions of AWS's SDKs. */
export function dnsSuffixOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  if (region.startsWith('eusc-')) return 'amazonaws.eu';
  return 'amazonaws.com';
}
