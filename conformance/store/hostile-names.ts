/** Names that break quotes, formulas, paths and encodings if a value is inserted into text. */
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
