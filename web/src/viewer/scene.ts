import type { DrawnMap, MapBins } from '../core/bins';
import { lineOf, type DecodedMap } from '../core/codec';
import { colorOf, type Color } from '../core/colors';
import { SHORT_MAP, type MapDrawing } from '../core/drawing';
import type { AxisInfo, MaskInfo, PageHeader, SiteInfo } from '../core/header';
import type { ColorScale } from '../core/scale';
import type { State } from '../core/state';
import type { Maps } from './maps';

/** What a view looks at: a pinned or hovered position, perhaps with one on the other axis. */
export interface Focus {
  token: number;
  other: number | null;
  /** Whether nobody chose it yet. */
  suggested: boolean;
}

/** Where colours end: as was asked, the same whatever is shown, at the largest value of this map, or of all maps. */
export type Ends = 'asked' | 'fixed' | 'own' | 'shared';

/** Everything that views draw from; made anew for every change. */
export interface Scene {
  header: PageHeader;
  maps: Maps;
  state: State;
  site: SiteInfo;
  mask: MaskInfo;
  map: DecodedMap;
  focus: Focus | null;
  rowAxis: AxisInfo;
  colAxis: AxisInfo;
  bins: MapBins;
  /** What is drawn, on which scale, in which 256 colours. */
  drawing: MapDrawing;
  scale: ColorScale;
  colors: Uint8Array;
  /** The colour map itself; over a picture `colors` are these as they look over its ground. */
  table: Uint8Array;
  /** The same of all heads as small maps. */
  headsDrawing: MapDrawing;
  headsScale: ColorScale;
  /** What decides where the colours end. */
  ends: Ends;
  /** What the high end is the largest of, where that is the map's own: "this map". */
  own: string;
  /** What the matrix shows, set by it; null in other views. */
  drawn: DrawnMap | null;
  /** What lies under the grids; null: nothing, or not unpacked yet. */
  picture: ImageBitmap | null;
  /** The largest weight of all maps of this kind. */
  shared: number;
  dark: boolean;
}

/** What views may ask for. */
export interface Actions {
  /** Null ends hovering, after a moment in which the pointer may come back. */
  hover(focus: { token: number; other: number | null } | null): void;
  pin(token: number, other: number | null): void;
  /** Says anew what is shown: a view has changed how it shows it. */
  refresh(): void;
  choose(site: number, head: number): void;
  open(site: number, head: number): void;
}

export interface View {
  element: HTMLElement;
  update(scene: Scene): void;
  /** Moves the pin; true if the key meant something here. */
  arrow(scene: Scene, dx: number, dy: number): boolean;
  zoom?(by: number): void;
}

/** The token's axis and the other one. */
export function axesOf(scene: Scene): { token: AxisInfo; other: AxisInfo } {
  return scene.state.column
    ? { token: scene.colAxis, other: scene.rowAxis }
    : { token: scene.rowAxis, other: scene.colAxis };
}

/** Row and column of a focus. */
export function cellOf(scene: Scene, focus: Focus): { row: number | null; col: number | null } {
  return scene.state.column ? { row: focus.other, col: focus.token } : { row: focus.token, col: focus.other };
}

/** The axis whose grid lies over the picture: what is looked at, if it can be. Null without a picture. */
export function pictureAxis(scene: { header: PageHeader; rowAxis: AxisInfo; colAxis: AxisInfo }): AxisInfo | null {
  if (!scene.header.picture) return null;
  return scene.colAxis.grid ? scene.colAxis : scene.rowAxis.grid ? scene.rowAxis : null;
}

/** The weights of the focused row or column; null without one. */
export function weightsOf(scene: Scene): Float32Array | null {
  return scene.focus ? lineOf(scene.map, scene.focus.token, scene.state.column) : null;
}

/** Weights of the focused line, of this head or another, as they are drawn. */
export function valuesOf(scene: Scene, weights: Float32Array): Float32Array {
  return scene.bins.line(weights, scene.focus?.token ?? 0, scene.state.column, scene.drawing.of);
}

export function colorIn(scene: Scene, value: number): Color {
  return colorOf(scene.colors, scene.scale, value);
}

/** Whether the mask's cells are plain: hatching over half of a long map would shimmer. */
export function isLong({ site }: { site: SiteInfo }): boolean {
  return Math.max(site.rows, site.cols) > SHORT_MAP;
}

/** What a long map's forbidden cells look like. */
export function forbiddenGround({ dark }: { dark: boolean }): Color {
  return dark ? [36, 39, 46] : [234, 234, 240];
}
