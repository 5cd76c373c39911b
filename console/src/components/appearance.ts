export type Theme = 'system' | 'light' | 'dark';

const yearSeconds = 31_536_000;

/** Theme and density are the only state that is not in the address. The theme is a cookie, so that the first paint has it. */
export function readAppearance(): void {
  const density = localStorage.getItem('weir.density');
  if (density !== null) document.documentElement.dataset['density'] = density;
}

export function presentTheme(): Theme {
  const theme = document.documentElement.dataset['theme'];
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

export function chooseTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
  document.cookie = `weir_theme=${theme}; Path=/; Max-Age=${yearSeconds}; SameSite=Strict${location.protocol === 'https:' ? '; Secure' : ''}`;
}
