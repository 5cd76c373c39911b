/** The sections of a file with AWS profiles: the members of each, by its name in the brackets. */
export type IniSections = ReadonlyMap<string, Readonly<Record<string, string>>>;

/**
 * Reads a file of AWS's tools: sections in brackets, `name = value`, comments with `#` or `;` at the beginning of a
 * line. Indented lines belong to the setting before them, and are left out. Names are in lower case.
 */
export function readIni(text: string): IniSections {
  const sections = new Map<string, Record<string, string>>();
  let current: Record<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s|^[#;]|^$/.test(line)) continue;
    const section = /^\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) {
      const name = section.replace(/\s+/g, ' ');
      current = sections.get(name) ?? {};
      sections.set(name, current);
      continue;
    }
    const equals = line.indexOf('=');
    if (current === undefined || equals === -1) continue;
    current[line.slice(0, equals).trim().toLowerCase()] = line
      .slice(equals + 1)
      .replace(/\s[#;].*$/, '')
      .trim();
  }
  return sections;
}
