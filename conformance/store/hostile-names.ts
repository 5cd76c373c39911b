/** Names that break out of quotes, formulas, paths and encodings wherever a value is pasted into text. */
export const hostileNames = [
  `'; drop table calls; --`,
  `" or 1=1 --`,
  '%_\\',
  '=HYPERLINK("http://x")',
  'zoë 模型 🐟 \u202eabc',
  `$1 ? :name @name`,
  'line\nbreak\ttab',
  '',
];
