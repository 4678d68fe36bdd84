/** Puts the focus into a dialog, keeps it there, and gives it back. */
export function keepFocus(node: HTMLElement): { destroy(): void } {
  const before = document.activeElement as HTMLElement | null;
  const inside = () => [...node.querySelectorAll<HTMLElement>('input, button, a[href], [tabindex="0"]')];
  inside()[0]?.focus();
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Tab') return;
    const all = inside();
    const first = all[0];
    const last = all.at(-1);
    const from = document.activeElement;
    if (event.shiftKey ? from === first : from === last) {
      (event.shiftKey ? last : first)?.focus();
      event.preventDefault();
    }
  };
  const escape = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && event.target instanceof HTMLInputElement) event.target.blur();
  };
  node.addEventListener('keydown', pressed);
  node.addEventListener('keydown', escape);
  return {
    destroy() {
      node.removeEventListener('keydown', pressed);
      node.removeEventListener('keydown', escape);
      if (before?.isConnected) before.focus();
    },
  };
}
