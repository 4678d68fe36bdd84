/** Colours of the page's design, as they are now, for canvases. */
import type { Color } from '../core/colors';

let probe: HTMLElement | null = null;

export function tokenColor(name: string): Color {
  if (!probe) {
    probe = document.createElement('span');
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${name})`;
  const found = getComputedStyle(probe).color.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0];
  const scale = getComputedStyle(probe).color.startsWith('color(') ? 255 : 1;
  return found.slice(0, 3).map((each) => Math.round(each * scale)) as Color;
}

/** What ?gl= asks for: 0 draws on the CPU, 1 on the GPU, nothing what is faster. */
export function glWanted(): boolean | null {
  const asked = new URLSearchParams(location.search).get('gl');
  return asked === null ? null : asked === '1';
}
