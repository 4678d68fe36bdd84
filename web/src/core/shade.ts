/** Shading of running text: the ground, then away from it, in straight pieces between a few stops. */
import { textColorOn, type Color } from './colors';

/** Below so much a word stays plain; it is in the list. */
export const LEAST_SHADE = 0.025;

export function shadeAt(stops: readonly Color[], place: number): Color {
  const at = Math.max(0, Math.min(1, place)) * (stops.length - 1);
  const piece = Math.min(Math.floor(at), stops.length - 2);
  const [from, to] = [stops[piece] as Color, stops[piece + 1] as Color];
  return from.map((channel, c) => Math.round(channel + ((to[c] as number) - channel) * (at - piece))) as Color;
}

/** Ground and letters of a word; null: plain. */
export function shadeOf(stops: readonly Color[], place: number): { ground: string; ink: string } | null {
  if (!(place >= LEAST_SHADE)) return null;
  const color = shadeAt(stops, place);
  return { ground: `rgb(${color.join(' ')})`, ink: textColorOn(color) };
}
