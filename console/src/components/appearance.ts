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

type Density = 'normal' | 'comfortable' | 'compact';

export function presentDensity(): Density {
  const density = document.documentElement.dataset['density'];
  return density === 'comfortable' || density === 'compact' ? density : 'normal';
}

/** The height of rows, at once and from now on. */
export function chooseDensity(density: Density): void {
  document.documentElement.dataset['density'] = density;
  localStorage.setItem('weir.density', density);
}

/** The zone in which this browser shows times, unless an address says another. */
type ZoneChoice = 'reporting' | 'UTC' | 'browser';

export function presentZoneChoice(): ZoneChoice {
  const choice = localStorage.getItem('weir.zone');
  return choice === 'UTC' || choice === 'browser' ? choice : 'reporting';
}

export function chooseZone(choice: ZoneChoice): void {
  localStorage.setItem('weir.zone', choice);
}

const stepsItem = 'weir.firstSteps';

/** Whether the overview shows the first steps of an installation, while some are open. */
export const areFirstStepsShown = (): boolean => localStorage.getItem(stepsItem) !== 'hidden';

export const showFirstSteps = (shown: boolean): void => localStorage.setItem(stepsItem, shown ? 'shown' : 'hidden');
