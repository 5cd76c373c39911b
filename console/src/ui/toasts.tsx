/** Says shortly that something was done. Nothing essential is said only here. */
export function say(title: string, description?: string): void {
  void import('./toast-list.tsx').then(({ showToast }) => showToast(title, description));
}
