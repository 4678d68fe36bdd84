import type { DecodedMap } from '../core/codec';
import type { AxisInfo, MaskInfo, PageHeader, SiteInfo } from '../core/header';
import type { State } from '../core/state';
import type { Maps } from './maps';

/** What a view looks at: a pinned or hovered position, perhaps with one on the other axis. */
export interface Focus {
  token: number;
  other: number | null;
  /** Whether nobody chose it yet. */
  suggested: boolean;
}

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
  /** 256 colours, one pixel per code, and the weight at the warm end. */
  colors: Uint8Array;
  table: Uint32Array;
  high: number;
  /** What `high` is the largest weight of, where it is not shared: "this map". */
  own: string;
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
